-- The parsed lines that need no second reading.
CREATE OR REPLACE TEMP VIEW readable AS
SELECT * FROM parsed WHERE NOT doubtful AND key_hash NOT IN (SELECT key_hash FROM shapes WHERE repeats)
