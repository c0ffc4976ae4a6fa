-- One component by run and a property of the task, over complete episodes.
-- `unscored` are complete episodes that lack the component: they are in no mean.
SELECT
    run_id,
    slice,
    count(value) AS n,
    avg(value) AS mean,
    stddev_samp(value) AS sd,
    count(*) - count(value) AS unscored
FROM (
    SELECT
        run_id,
        CASE $dimension
            WHEN 'domain' THEN domain
            WHEN 'n_attributes' THEN CAST(n_attributes AS VARCHAR)
            WHEN 'n_options' THEN CAST(n_options AS VARCHAR)
            WHEN 'has_budget' THEN CASE WHEN has_budget THEN 'with budget' ELSE 'without budget' END
        END AS slice,
        CASE $metric
            WHEN 'r_strict' THEN r_strict
            WHEN 'r_loose' THEN r_loose
            WHEN 'r_success' THEN r_success
            WHEN 'r_type' THEN r_type
            WHEN 'r_att' THEN r_att
            WHEN 'r_option' THEN r_option
            WHEN 'r_price' THEN r_price
        END AS value
    FROM episodes
    WHERE complete AND list_contains($run_ids, run_id)
)
GROUP BY run_id, slice
ORDER BY run_id, try_cast(slice AS INTEGER) NULLS LAST, slice NULLS LAST
