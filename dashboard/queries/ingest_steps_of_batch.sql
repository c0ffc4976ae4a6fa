-- The steps of the batch's readable records, one row each.
CREATE OR REPLACE TEMP VIEW steps_of_batch AS
SELECT
    record_id,
    unnest(steps) AS s,
    generate_subscripts(steps, 1) AS position
FROM readable
