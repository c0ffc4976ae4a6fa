-- The rows of some segments that still count, as rows of one new segment. `$files` are Parquet files.
SELECT $segment AS segment, t.* EXCLUDE (segment)
FROM read_parquet($files) t SEMI JOIN live USING (segment, group_name)
