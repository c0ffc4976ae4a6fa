-- One batch of lines as declared structures. `doubtful` marks lines that Python may read differently, apart
-- from keys given twice: see ingest_repeats.sql. This fast form fails when one line is no JSON.
CREATE OR REPLACE TEMP TABLE parsed AS
SELECT
    line_row, stretch, line_offset, line_length, record, key_hash,
    js_text(record.episode_id) IS NULL OR lenient OR len(list_filter(record.steps, lambda s: hides_wrong_type(s))) > 0
        OR len(record.steps) > $most_steps AS doubtful
FROM (
    SELECT
        line_row, stretch, line_offset, line_length,
        from_json(line, $structure) AS record,
        hash(json_keys(line, $key_paths)) AS key_hash,
        has_lenient_syntax(line) AS lenient
    FROM lines
)
