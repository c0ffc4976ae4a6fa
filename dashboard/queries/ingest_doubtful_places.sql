-- Where the lines lie that Python must read, of a file that was read as a whole.
SELECT line_no, line_offset, line_length
FROM line_places
WHERE for_python OR line_no IN (
    SELECT line_no
    FROM (SELECT row_number() OVER () - 1 AS line_no, record.episode_id FROM turns WHERE position = 1)
    WHERE episode_id IS NULL
)
ORDER BY line_no
