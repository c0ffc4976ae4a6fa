-- Rows of the batch that Python must read.
SELECT line_row FROM lines WHERE line_row NOT IN (SELECT line_row FROM readable) ORDER BY line_row
