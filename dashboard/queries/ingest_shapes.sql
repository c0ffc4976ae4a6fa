-- The sets of keys ("shapes") of the parsed lines that were not met before, and whether an object of theirs
-- gives a key twice: DuckDB keeps the first of them and Python the last. One line of each shape tells.
INSERT INTO shapes
SELECT
    key_hash,
    list_bool_or(list_transform(json_keys(line, $key_paths), lambda keys: len(keys) <> list_unique(keys))) AS repeats
FROM (
    SELECT key_hash, any_value(line_row) AS line_row
    FROM parsed
    WHERE NOT doubtful AND key_hash NOT IN (SELECT key_hash FROM shapes)
    GROUP BY key_hash
)
JOIN lines USING (line_row)
