-- The records of a batch that was read the fast way (rows and lines are in the same order).
CREATE OR REPLACE TEMP VIEW readable AS
SELECT p.*, f.*
FROM fast f POSITIONAL JOIN places p
WHERE js_text(f.episode_id) IS NOT NULL AND p.line_row NOT IN (SELECT line_row FROM suspects)
