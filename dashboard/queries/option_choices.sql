-- Options chosen on the bought product (`axis=value`) in episodes with a wanted value whose axis the trace
-- does not tell: with the axis from the catalogue it shows what was taken instead.
WITH open_questions AS (
    SELECT DISTINCT run_id, episode_id
    FROM option_outcomes
    WHERE axis IS NULL AND purchased AND NOT matched AND list_contains($run_ids, run_id)
),
opened AS (
    SELECT run_id, episode_id, max(step_index) AS last_open
    FROM steps JOIN open_questions USING (run_id, episode_id)
    WHERE action_type = 'open_product'
    GROUP BY run_id, episode_id
)
SELECT run_id, episode_id, argument
FROM steps JOIN opened USING (run_id, episode_id)
WHERE action_type = 'select_option' AND valid AND step_index > last_open
ORDER BY run_id, episode_id, step_index
