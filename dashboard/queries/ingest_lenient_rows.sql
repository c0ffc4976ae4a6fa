-- Rows of the lines found by ingest_lenient.sql.
SELECT line_row FROM lenient ORDER BY line_row
