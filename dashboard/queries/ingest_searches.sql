-- Table `searches`: one row a search that was carried out.
WITH seen AS (
    SELECT
        stretch, episode_id, search_no,
        min(list_min([p.rank FOR p IN products IF p.asin = goal_asin])) AS goal_rank,
        count(DISTINCT page) AS pages_seen,
        max(list_max([p.rank FOR p IN products])) AS deepest_rank
    FROM result_pages
    GROUP BY stretch, episode_id, search_no
)
SELECT
    w.stretch,
    w.episode_id, w.task_id,
    coalesce(w.step_index, w.position) AS step_index,
    coalesce(p.search_text, w.argument) AS query,
    coalesce(
        p.normalized_search_text, lower(trim(regexp_replace(w.argument, '\s+', ' ', 'g')))
    ) AS normalized_query,
    p.total_results,
    seen.goal_rank,
    coalesce(seen.pages_seen, 0) AS pages_seen,
    seen.deepest_rank,
    w.search_no
FROM walk w
JOIN turns p ON p.rowid = w.turn_id
LEFT JOIN seen USING (stretch, episode_id, search_no)
WHERE w.action_type = 'search'
