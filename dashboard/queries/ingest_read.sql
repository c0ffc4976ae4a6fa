-- One batch of lines, read by DuckDB's own JSON reader over declared columns: the fast way. It is strict: a line
-- that is no JSON, a key given twice in a declared object, a value where an object or a list is declared make
-- it fail, and then the batch is read the careful way (ingest_parse.sql). `$columns` is replaced by the columns.
CREATE OR REPLACE TEMP TABLE fast AS
SELECT *
FROM read_json($file, format = 'newline_delimited', maximum_object_size = $largest, columns = $columns)
