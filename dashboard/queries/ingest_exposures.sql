-- Table `exposures`: one row a product on a result page, counted when the page is first shown for a search.
-- Pages are sorted before their products are laid out: sorting products would take longer than all the rest.
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
),
shown AS (
    SELECT
        w.stretch, w.episode_id, w.task_id, w.goal_asin, f.search_no,
        coalesce(t.step_index, t.position) AS step_index, t.search_text AS query, t.page, t.products,
        coalesce(o.asins, []) AS opened
    FROM first_shown f
    JOIN turns t ON t.rowid = f.turn_id
    JOIN winners w ON w.record_id = f.record_id
    LEFT JOIN opened o ON o.record_id = f.record_id AND o.search_no = f.search_no
    ORDER BY f.turn_id
),
listed AS (
    SELECT * EXCLUDE (products), unnest(products) AS product FROM shown
)
SELECT
    stretch, episode_id, task_id, step_index, query, page,
    product.rank AS rank,
    product.asin AS asin,
    product.asin = goal_asin AS is_goal,
    coalesce(list_contains(opened, lower(product.asin)), false) AS opened,
    search_no
FROM listed
