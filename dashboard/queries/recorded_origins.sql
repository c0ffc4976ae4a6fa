-- Where the shortest record of each different provenance of some runs lies, the most frequent provenances first
-- ($most of each run).
SELECT run_id, arg_min(line_offset, line_length) AS line_offset, min(line_length) AS line_length
FROM episodes
WHERE run_id IN (SELECT unnest($run_ids)) AND provenance_hash IS NOT NULL
GROUP BY run_id, provenance_hash
QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY count(*) DESC, min(line_offset)) <= $most
ORDER BY run_id, line_offset
