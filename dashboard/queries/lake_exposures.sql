-- View `exposures`: one row a product on a result page, counted when the page is first shown for a search.
CREATE VIEW exposures AS
SELECT
    run_id, episode_id, task_id, step_index, query, page,
    product.rank AS rank,
    product.asin AS asin,
    product.asin = goal_asin AS is_goal,
    coalesce(list_contains(opened, lower(product.asin)), false) AS opened,
    search_no
FROM (SELECT *, unnest(products) AS product FROM result_pages)
