-- Where the lines lie that Python must read, of a file that was read as a whole.
SELECT line_row, line_offset, line_length
FROM places
WHERE line_row NOT IN (SELECT line_row FROM readable)
ORDER BY line_row
