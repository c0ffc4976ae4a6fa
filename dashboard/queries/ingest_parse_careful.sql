-- Like ingest_parse.sql, for a batch in which some line is no JSON: such lines are doubtful.
CREATE OR REPLACE TEMP TABLE parsed AS
SELECT
    line_row, stretch, line_offset, line_length, record, key_hash,
    record IS NULL OR key_hash IS NULL OR js_text(record.episode_id) IS NULL OR lenient
        OR len(list_filter(record.steps, lambda s: hides_wrong_type(s))) > 0
        OR len(record.steps) > $most_steps AS doubtful
FROM (
    SELECT
        line_row, stretch, line_offset, line_length,
        try(from_json(line, $structure)) AS record,
        try(hash(json_keys(line, $key_paths))) AS key_hash,
        has_lenient_syntax(line) AS lenient
    FROM lines
)
