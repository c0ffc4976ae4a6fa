-- Table `exposures`: one row a product on a result page, counted when the page is first shown for a search.
WITH shown AS (
    SELECT
        w.stretch, w.episode_id, w.task_id, w.step_index, w.search_no,
        p.record_id, p.position, p.search_text, p.page, p.products
    FROM stage_steps p JOIN walk w USING (record_id, position)
    WHERE p.page_type = 'search_results' AND len(p.products) > 0
    QUALIFY row_number() OVER (PARTITION BY p.record_id, w.search_no, p.page ORDER BY p.position) = 1
),
opened AS (
    SELECT DISTINCT record_id, search_no, lower(argument) AS asin FROM walk WHERE action_type = 'open_product'
),
listed AS (
    SELECT
        stretch, record_id, episode_id, task_id, search_no, coalesce(step_index, position) AS step_index, position,
        search_text AS query, page, unnest(products) AS product
    FROM shown
)
SELECT
    l.stretch,
    l.episode_id, l.task_id, l.step_index, l.query, l.page,
    product.rank AS rank,
    product.asin AS asin,
    product.asin = w.goal_asin AS is_goal,
    o.asin IS NOT NULL AS opened,
    l.search_no
FROM listed l
JOIN winners w USING (record_id)
LEFT JOIN opened o ON o.record_id = l.record_id AND o.search_no = l.search_no AND o.asin = lower(product.asin)
ORDER BY l.record_id, l.position, rank
