-- Lines read by DuckDB's own JSON reader over declared columns: the fast way. It is strict: a line that is no
-- JSON, a key given twice in a declared object, a value where an object or a list is declared make it fail, and
-- then the lines are read the careful way (ingest_parse.sql). The columns are put in by the program.
SELECT *
FROM read_json($file, format = 'newline_delimited', maximum_object_size = $largest, columns = $columns)
