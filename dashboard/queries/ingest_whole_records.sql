-- Records read of a whole file, and its lines: they must be as many.
SELECT (SELECT count(*) FROM turns WHERE position = 1), (SELECT count(*) FROM line_places)
