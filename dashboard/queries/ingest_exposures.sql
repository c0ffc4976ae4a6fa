-- Table `exposures`: one row a product on a result page, counted when the page is first shown for a search.
-- Pages are sorted before their products are laid out: sorting products would take longer than all the rest.
WITH first_shown AS (
    SELECT record_id, search_no, min(turn_id) AS turn_id
    FROM walk
    WHERE lists_products
    GROUP BY record_id, search_no, page
),
shown AS (
    SELECT
        w.stretch, record_id, w.episode_id, w.task_id, w.goal_asin, f.search_no,
        coalesce(p.step_index, p.position) AS step_index, p.search_text AS query, p.page, p.products
    FROM first_shown f
    JOIN turns p ON p.rowid = f.turn_id
    JOIN winners w USING (record_id)
    ORDER BY f.turn_id
),
opened AS (
    SELECT DISTINCT record_id, search_no, lower(argument) AS asin FROM walk WHERE action_type = 'open_product'
),
listed AS (
    SELECT * EXCLUDE (products), unnest(products) AS product FROM shown
)
SELECT
    l.stretch,
    l.episode_id, l.task_id, l.step_index, l.query, l.page,
    product.rank AS rank,
    product.asin AS asin,
    product.asin = l.goal_asin AS is_goal,
    o.asin IS NOT NULL AS opened,
    l.search_no
FROM listed l
LEFT JOIN opened o ON o.record_id = l.record_id AND o.search_no = l.search_no AND o.asin = lower(product.asin)
