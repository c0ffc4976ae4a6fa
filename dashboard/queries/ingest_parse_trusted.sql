-- Lines that Python has read and written again: nothing in them is doubtful.
CREATE OR REPLACE TEMP TABLE parsed AS
SELECT * EXCLUDE (line), from_json(line, $structure) AS record, CAST(0 AS UBIGINT) AS key_hash, false AS doubtful
FROM lines
