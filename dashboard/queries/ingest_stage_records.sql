-- The records of all batches, one row a record: `record_id` is the row of its first turn. The n-th record of a file
-- that was read as a whole lies in its n-th line, see `line_places`; Python reads what is marked there. As long as
-- that table is empty it is not known where the lines lie, and nothing is marked.
CREATE OR REPLACE VIEW stage_records AS
SELECT
    r.* EXCLUDE (line_offset, line_length),
    coalesce(r.line_offset, p.line_offset) AS line_offset,
    coalesce(r.line_length, p.line_length) AS line_length
FROM (
    SELECT rowid AS record_id, row_number() OVER () - 1 AS line_no, unnest(record)
    FROM turns
    WHERE position = 1
) r
LEFT JOIN line_places p USING (line_no)
WHERE r.line_offset IS NOT NULL OR (r.episode_id IS NOT NULL AND p.for_python IS DISTINCT FROM true)
