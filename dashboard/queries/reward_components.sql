-- Mean, spread and the masses at exactly 0 and 1 of every reward component, by run, over scored episodes: of the
-- traces, else of the published outcomes of single tasks; what neither tells as the summary states it (spec 04 A, C),
-- without a spread but that of the strict reward.
WITH valued AS (
    FROM (
        UNPIVOT (
            SELECT run_id, r_strict, r_loose, r_success, r_type, r_att, r_option, r_price
            FROM judged
            WHERE scored AND list_contains($run_ids, run_id)
        )
        ON r_strict, r_loose, r_success, r_type, r_att, r_option, r_price
        INTO NAME metric VALUE value
    )
    UNION ALL
    FROM (
        UNPIVOT (
            SELECT run_id, reward AS r_strict, CAST(success AS DOUBLE) AS r_success
            FROM published_outcomes JOIN runs USING (run_id)
            WHERE NOT has_traces AND reward IS NOT NULL AND list_contains($run_ids, run_id)
        )
        ON r_strict, r_success
        INTO NAME metric VALUE value
    )
),
counted AS (
    SELECT
        run_id, metric,
        count(*) AS n,
        avg(value) AS mean,
        stddev_samp(value) AS sd,
        count(*) FILTER (value = 0) AS zeros,
        count(*) FILTER (value = 1) AS ones
    FROM valued
    GROUP BY run_id, metric
),
stated AS (
    UNPIVOT (
        SELECT
            s.run_id, s.scored AS n, s.reward_sem * sqrt(s.scored) AS reward_sd,
            coalesce(s.reward_mean, s.r_strict) AS r_strict,
            s.r_loose,
            coalesce(s.success_rate, s.r_success) AS r_success,
            s.r_type, s.r_att, s.r_option, s.r_price
        FROM summaries s JOIN runs r USING (run_id)
        WHERE NOT r.has_traces AND s.scored > 0 AND list_contains($run_ids, s.run_id)
    )
    ON r_strict, r_loose, r_success, r_type, r_att, r_option, r_price
    INTO NAME metric VALUE mean
)
FROM counted
UNION ALL BY NAME
SELECT run_id, metric, n, mean, CASE metric WHEN 'r_strict' THEN reward_sd END AS sd
FROM stated ANTI JOIN counted USING (run_id, metric)
ORDER BY run_id, metric
