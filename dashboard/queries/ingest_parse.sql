-- One batch of lines, read the careful way. `doubtful` marks lines that Python may read differently, apart from
-- keys given twice (ingest_shapes.sql): what is no JSON to DuckDB, a value in place of an object, more steps
-- than the keys are looked at of. Suspects are not among the lines.
CREATE OR REPLACE TEMP TABLE parsed AS
SELECT
    * EXCLUDE (line),
    record IS NULL OR key_hash IS NULL OR js_text(record.episode_id) IS NULL
        OR len(list_filter(record.steps, lambda s: hides_wrong_type(s))) > 0
        OR len(record.steps) > $most_steps AS doubtful
FROM (
    SELECT
        *,
        try(from_json(line, $structure)) AS record,
        try(hash(json_keys(line, $key_paths))) AS key_hash
    FROM lines
)
