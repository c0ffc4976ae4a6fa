-- One component by run and a property of the task, over scored episodes.
-- `unscored` are complete episodes without a score, or without this component: they are in no mean.
SELECT
    run_id,
    CASE $dimension
        WHEN 'domain' THEN domain
        WHEN 'n_attributes' THEN CAST(n_attributes AS VARCHAR)
        WHEN 'n_options' THEN CAST(n_options AS VARCHAR)
        WHEN 'has_budget' THEN CASE WHEN has_budget THEN 'with budget' ELSE 'without budget' END
    END AS slice,
    count(value) AS n,
    avg(value) AS mean,
    stddev_samp(value) AS sd,
    count(*) - count(value) AS unscored
FROM component_values($metric, $run_ids)
GROUP BY run_id, slice
ORDER BY run_id, try_cast(slice AS INTEGER) NULLS LAST, slice NULLS LAST
