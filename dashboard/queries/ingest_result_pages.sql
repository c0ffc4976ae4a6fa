-- Table `result_pages`: one row a result page, when it is first shown for a search, with the products on it. `opened`
-- are the products, in lower case, that were opened from any page of that search.
WITH first_shown AS (
    SELECT record_id, search_no, min(turn_id) AS turn_id
    FROM walk
    WHERE lists_products
    GROUP BY record_id, search_no, page
),
opened AS (
    SELECT record_id, search_no, list(DISTINCT lower(argument)) AS asins
    FROM walk
    WHERE action_type = 'open_product'
    GROUP BY record_id, search_no
)
SELECT
    w.stretch, w.episode_id, w.task_id,
    coalesce(t.step_index, t.position) AS step_index,
    t.search_text AS query,
    t.page, f.search_no, w.goal_asin, o.asins AS opened, t.products
FROM first_shown f
JOIN turns t ON t.rowid = f.turn_id
JOIN winners w ON w.record_id = f.record_id
LEFT JOIN opened o ON o.record_id = f.record_id AND o.search_no = f.search_no
ORDER BY f.turn_id
