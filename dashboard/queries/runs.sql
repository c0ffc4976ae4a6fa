-- Every known run in display order: numbers inside names count as numbers (iter5 before iter40).
SELECT *
FROM runs
ORDER BY
    regexp_replace(lower(coalesce(label, experiment, run_id)), '\d+', '#', 'g'),
    try_cast(regexp_extract(coalesce(label, experiment, run_id), '(\d+)', 1) AS BIGINT) NULLS FIRST,
    coalesce(label, experiment, run_id),
    run_id
