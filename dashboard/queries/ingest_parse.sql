-- One batch of lines as declared structures. `doubtful` lines are those that Python may read differently:
-- what DuckDB rejects, keys given twice (it keeps the first, Python the last), values that only DuckDB's
-- lenient reader takes, wrong types that a structure hides. They are read again by Python.
CREATE OR REPLACE TEMP TABLE parsed AS
SELECT
    line_offset,
    line_length,
    record,
    coalesce(
        record IS NULL
        OR try(js_text(record.episode_id)) IS NULL
        OR try(has_repeated_keys(line))
        OR has_lenient_syntax(line)
        OR len(list_filter(record.steps, lambda s: hides_wrong_type(s))) > 0,
        true
    ) AS doubtful
FROM (SELECT line_offset, line_length, line, try(from_json(line, $structure)) AS record FROM lines)
