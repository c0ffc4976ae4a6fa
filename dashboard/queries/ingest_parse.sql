-- One batch of lines, read the careful way. `doubtful` marks lines that Python may read differently, apart from
-- keys given twice (ingest_shapes.sql): what is no JSON to DuckDB, what only its leniency takes for JSON, a
-- value in place of an object, more steps than the keys are looked at of.
CREATE OR REPLACE TEMP TABLE parsed AS
SELECT
    * EXCLUDE (line, lenient),
    record IS NULL OR key_hash IS NULL OR js_text(record.episode_id) IS NULL OR lenient
        OR len(list_filter(record.steps, lambda s: hides_wrong_type(s))) > 0
        OR len(record.steps) > $most_steps AS doubtful
FROM (
    SELECT
        *,
        try(from_json(line, $structure)) AS record,
        try(hash(json_keys(line, $key_paths))) AS key_hash,
        has_lenient_syntax(line) AS lenient
    FROM lines
)
