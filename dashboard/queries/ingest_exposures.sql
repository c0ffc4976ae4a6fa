-- Table `exposures`: one row a product on a result page, counted when the page is first shown for a search.
WITH shown AS (
    SELECT *
    FROM walk
    WHERE page_type = 'search_results' AND products IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY record_id, search_no, page ORDER BY position) = 1
),
opened AS (
    SELECT DISTINCT record_id, search_no, lower(argument) AS asin FROM walk WHERE action_type = 'open_product'
),
listed AS (
    SELECT
        stretch, record_id, episode_id, task_id, search_no, coalesce(step_index, position) AS step_index, position,
        goal_asin, search_text AS query, page, unnest(products) AS product
    FROM shown
)
SELECT
    stretch,
    episode_id, task_id, step_index, query, page,
    product.rank AS rank,
    product.asin AS asin,
    product.asin = goal_asin AS is_goal,
    o.asin IS NOT NULL AS opened,
    l.search_no
FROM listed l
LEFT JOIN opened o ON o.record_id = l.record_id AND o.search_no = l.search_no AND o.asin = lower(product.asin)
ORDER BY task_id, episode_id, position, rank
