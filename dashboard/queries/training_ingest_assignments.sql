-- Where the records of one batch say they come from, their skills among it (spec 04 B), as JSON text.
SELECT record_id, stretch, CAST(provenance AS VARCHAR) AS provenance
FROM readable
