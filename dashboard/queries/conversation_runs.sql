-- All runs of conversation episodes in display order: numbers inside names count as numbers (iter5 before iter40).
SELECT *
FROM conversation_runs
ORDER BY
    regexp_replace(lower(coalesce(experiment, run_id)), '\d+', '#', 'g'),
    try_cast(regexp_extract(coalesce(experiment, run_id), '(\d+)', 1) AS BIGINT) NULLS FIRST,
    coalesce(experiment, run_id),
    run_id
