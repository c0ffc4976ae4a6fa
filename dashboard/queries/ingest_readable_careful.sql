-- The records of a batch that was read the careful way.
CREATE OR REPLACE TEMP VIEW readable AS
SELECT * EXCLUDE (record, key_hash, doubtful), unnest(record)
FROM parsed
WHERE NOT doubtful AND key_hash NOT IN (SELECT key_hash FROM shapes WHERE repeats)
