-- The steps of the winning records with the page before and after each and the kind of action (spec 04 E).
-- A step that got no answer leaves the page as it was. `search_no` counts the result lists of an episode.
-- Turns lie in recorded order: what an episode came to so far is carried from row to row, nothing is sorted.
CREATE OR REPLACE TABLE walk AS
WITH begun AS (
    SELECT
        * EXCLUDE (record, search_text, normalized_search_text, total_results, products, product_asin, available_options),
        rowid AS turn_id,
        max(CASE WHEN position = 1 THEN rowid END) OVER so_far AS record_id,
        page_type = 'search_results' AND len(products) > 0 AS lists_products,
        NOT has_protocol_error AND valid AND starts_with(action, 'search[') AND ends_with(action, ']') AS searched,
        CASE
            WHEN NOT ends_with(action, ']') THEN NULL
            WHEN starts_with(action, 'search[') THEN 'search'
            WHEN starts_with(action, 'click[') THEN 'click'
        END AS verb,
        action[length(verb) + 2 : -2] AS argument
    FROM turns
    WINDOW so_far AS (ROWS UNBOUNDED PRECEDING)
),
carried AS (
    SELECT
        *,
        CASE
            WHEN max(CASE WHEN page_type IS NOT NULL THEN turn_id END) OVER so_far >= record_id
            THEN last_value(page_type IGNORE NULLS) OVER so_far
        END AS page_seen,
        count(*) FILTER (searched) OVER so_far AS all_searches
    FROM begun
    WINDOW so_far AS (ROWS UNBOUNDED PRECEDING)
),
followed AS (
    SELECT
        * EXCLUDE (all_searches),
        CASE WHEN position > 1 THEN lag(page_seen) OVER () END AS page_seen_before,
        all_searches - max(CASE WHEN position = 1 THEN all_searches - CAST(coalesce(searched, false) AS INTEGER) END)
            OVER (ROWS UNBOUNDED PRECEDING) AS search_no
    FROM carried
),
paged AS (
    SELECT
        w.stretch, w.episode_id, w.task_id,
        f.* EXCLUDE (search_no, page_seen, page_seen_before),
        CAST(f.search_no AS INTEGER) AS search_no,
        coalesce(f.page_seen_before, w.reset_page) AS page_before,
        coalesce(
            CASE WHEN f.page_type IS NULL AND f.position = w.steps THEN w.final_page END, f.page_seen, w.reset_page
        ) AS page_after
    FROM followed f JOIN winners w USING (record_id)
    WHERE w.steps > 0
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
