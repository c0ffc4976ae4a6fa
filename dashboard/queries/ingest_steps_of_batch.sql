-- The steps of the batch's readable records, one row each.
CREATE OR REPLACE TEMP VIEW steps_of_batch AS
SELECT
    record_id,
    unnest(record.steps) AS s,
    generate_subscripts(record.steps, 1) AS position
FROM readable
