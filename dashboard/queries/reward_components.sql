-- Mean, spread and the masses at exactly 0 and 1 of every reward component, by run, over complete episodes.
SELECT
    run_id,
    metric,
    count(*) AS n,
    avg(value) AS mean,
    stddev_samp(value) AS sd,
    count(*) FILTER (value = 0) AS zeros,
    count(*) FILTER (value = 1) AS ones
FROM (
    UNPIVOT (
        SELECT run_id, r_strict, r_loose, r_success, r_type, r_att, r_option, r_price
        FROM episodes
        WHERE complete AND list_contains($run_ids, run_id)
    )
    ON r_strict, r_loose, r_success, r_type, r_att, r_option, r_price
    INTO NAME metric VALUE value
)
GROUP BY run_id, metric
ORDER BY run_id, metric
