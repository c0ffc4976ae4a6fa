-- The lines of a whole file as records of the one stretch; where each lies is found at the same time, see `line_places`.
SELECT
    CAST(0 AS BIGINT) AS stretch,
    CAST(NULL AS BIGINT) AS line_offset,
    CAST(NULL AS BIGINT) AS line_length,
    r.*
FROM ($lines) r
