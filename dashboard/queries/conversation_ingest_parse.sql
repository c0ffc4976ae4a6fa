-- One batch of lines of conversation episodes. `doubtful` marks lines that Python may read differently: what is no
-- JSON to DuckDB, no text in place of the id, and a key given twice in an object of which something is read.
CREATE OR REPLACE TEMP TABLE parsed AS
SELECT
    * EXCLUDE (line),
    record IS NULL OR repeats IS NULL OR repeats OR js_text(record.episode_id) IS NULL AS doubtful
FROM (
    SELECT
        *,
        try(from_json(line, $structure)) AS record,
        try(coalesce(list_bool_or(list_transform(
            list_concat(
                [CAST(line AS JSON)],
                json_extract(CAST(line AS JSON), [
                    '$.window', '$.end', '$.end.reward', '$.end.verdict', '$.end.verdict.parts', '$.private'
                ]),
                json_extract(CAST(line AS JSON), '$.turns[*]'),
                json_extract(CAST(line AS JSON), '$.turns[*].user'),
                json_extract(CAST(line AS JSON), '$.turns[*].tool_results[*]'),
                json_extract(CAST(line AS JSON), '$.conversation[*]'),
                json_extract(CAST(line AS JSON), '$.private.facts[*]'),
                json_extract(CAST(line AS JSON), '$.private.parts[*]'),
                json_extract(CAST(line AS JSON), '$.private.parts[*].facts[*]')
            ),
            lambda part: len(json_keys(part)) <> list_unique(json_keys(part))
        )), false)) AS repeats
    FROM lines
)
