-- Every query that the chosen runs typed, in order, with its task's gold product and where that product stood
-- on the result pages that were shown. `seen_depth` is the rank down to which the results are known from the
-- trace (150 when all of them were shown, 0 when none was). An episode that searched for nothing gives one row
-- without a query. What a failed episode did not record of its task is taken from others of the same catalogue.
WITH told AS (
    SELECT
        e.run_id, e.episode_id, e.task_id, e.goal_asin,
        coalesce(e.goal_asin, max(e.goal_asin) OVER same) AS gold_asin,
        coalesce(e.goal_name, max(e.goal_name) OVER same) AS gold_name,
        coalesce(e.domain, max(e.domain) OVER same) AS domain
    FROM episodes e JOIN runs r USING (run_id)
    WHERE list_contains($run_ids, e.run_id) AND e.task_id IS NOT NULL
    WINDOW same AS (PARTITION BY coalesce(r.product_data_sha256, e.run_id), e.task_id)
),
late AS (
    SELECT t.run_id, t.episode_id, x.search_no, min(x.rank) AS rank
    FROM told t JOIN exposures x ON x.run_id = t.run_id AND x.episode_id = t.episode_id AND x.asin = t.gold_asin
    WHERE t.goal_asin IS NULL
    GROUP BY ALL
)
SELECT
    t.run_id, t.episode_id, t.task_id, t.domain, t.gold_asin, t.gold_name,
    s.search_no, s.query, s.total_results,
    coalesce(s.goal_rank, late.rank) AS seen_rank,
    CASE
        WHEN s.query IS NULL THEN NULL
        WHEN s.total_results <= coalesce(s.deepest_rank, 0) THEN 150
        ELSE coalesce(s.deepest_rank, 0)
    END AS seen_depth
FROM told t
LEFT JOIN searches s USING (run_id, episode_id)
LEFT JOIN late USING (run_id, episode_id, search_no)
ORDER BY t.run_id, t.task_id, t.episode_id, s.search_no
