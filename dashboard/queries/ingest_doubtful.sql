-- Rows of the batch that Python must read.
SELECT line_row
FROM parsed
WHERE doubtful OR key_hash IN (SELECT key_hash FROM shapes WHERE repeats)
ORDER BY line_row
