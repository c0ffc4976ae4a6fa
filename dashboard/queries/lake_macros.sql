-- Table macro `component_values`: one reward component (`metric`) of every complete episode of some runs, with the
-- properties of its task; NULL where the episode is not scored or the component not recorded.
CREATE MACRO component_values(metric, run_ids) AS TABLE
SELECT
    run_id, domain, n_attributes, n_options, has_budget,
    CASE metric
        WHEN 'r_strict' THEN r_strict
        WHEN 'r_loose' THEN r_loose
        WHEN 'r_success' THEN r_success
        WHEN 'r_type' THEN r_type
        WHEN 'r_att' THEN r_att
        WHEN 'r_option' THEN r_option
        WHEN 'r_price' THEN r_price
    END AS value
FROM judged
WHERE complete AND list_contains(run_ids, run_id);
