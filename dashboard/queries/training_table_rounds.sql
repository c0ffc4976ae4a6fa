-- Table `training_rounds`: one row a round.
CREATE TABLE training_rounds AS
WITH figures AS (
    SELECT
        run_id,
        count(*) AS groups,
        min(rollout_step) AS first_step,
        max(rollout_step) AS last_step,
        min(q) AS q_low,
        max(q) AS q_high,
        count(DISTINCT state_id) AS states
    FROM training_groups
    GROUP BY run_id
),
wrong AS (SELECT run_id, count(*) AS problems FROM training_problems GROUP BY run_id)
SELECT
    o.source, o.run_id, o.round, o.name, o.path,
    coalesce(f.groups, 0) AS groups,
    f.first_step, f.last_step, f.q_low, f.q_high,
    coalesce(f.states, 0) AS states,
    coalesce(w.problems, 0) AS problems
FROM rounds_found o
LEFT JOIN figures f USING (run_id)
LEFT JOIN wrong w USING (run_id)
ORDER BY o.source, o.round
