-- Rows that the fast way gave and lines of the batch: they must be as many.
SELECT (SELECT count(*) FROM fast), (SELECT count(*) FROM places)
