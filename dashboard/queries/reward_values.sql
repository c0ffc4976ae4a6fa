-- How often each value of one component occurs, by run, over complete episodes.
SELECT run_id, value, count(*) AS n
FROM (
    SELECT
        run_id,
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
WHERE value IS NOT NULL
GROUP BY run_id, value
ORDER BY run_id, value
