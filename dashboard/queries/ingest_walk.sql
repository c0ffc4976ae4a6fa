-- The steps of the winning records with the page before and after each and the kind of action (spec 04 E).
-- A step that got no answer leaves the page as it was. `search_no` counts the result lists of an episode.
CREATE OR REPLACE TABLE walk AS
WITH answered AS (
    SELECT
        w.stretch, w.episode_id, w.task_id, w.reset_page,
        s.* EXCLUDE (
            search_text, normalized_search_text, total_results, products, product_asin, available_options
        ),
        s.page_type = 'search_results' AND len(s.products) > 0 AS lists_products,
        NOT has_protocol_error AND valid AND starts_with(action, 'search[') AND ends_with(action, ']') AS searched,
        CASE
            WHEN NOT ends_with(action, ']') THEN NULL
            WHEN starts_with(action, 'search[') THEN 'search'
            WHEN starts_with(action, 'click[') THEN 'click'
        END AS verb,
        coalesce(s.page_type, CASE WHEN s.position = w.steps THEN w.final_page END) AS page_now
    FROM stage_steps s JOIN winners w USING (record_id)
),
paged AS (
    SELECT
        *,
        action[length(verb) + 2 : -2] AS argument,
        coalesce(last_value(page_now IGNORE NULLS) OVER before, reset_page) AS page_before,
        coalesce(last_value(page_now IGNORE NULLS) OVER until_now, reset_page) AS page_after,
        CAST(count(*) FILTER (searched) OVER until_now AS INTEGER) AS search_no
    FROM answered
    WINDOW
        before AS (PARTITION BY record_id ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        until_now AS (PARTITION BY record_id ORDER BY position)
)
SELECT
    *,
    CASE
        WHEN has_protocol_error THEN 'repair'
        WHEN action IS NULL THEN 'no_action'
        WHEN valid IS DISTINCT FROM true THEN 'invalid_action'
        WHEN searched THEN 'search'
        WHEN verb IS NULL THEN 'other'
        WHEN argument = 'back to search' THEN 'backtrack'
        WHEN argument = '< prev' THEN CASE page_before WHEN 'search_results' THEN 'paginate' ELSE 'backtrack' END
        WHEN argument = 'next >' THEN 'paginate'
        WHEN argument = 'buy now' THEN 'purchase'
        WHEN page_before = 'search_results' AND page_after = 'product_detail' THEN 'open_product'
        WHEN page_before = 'product_detail' AND contains(argument, '=') THEN 'select_option'
        ELSE 'other'
    END AS action_type
FROM paged
