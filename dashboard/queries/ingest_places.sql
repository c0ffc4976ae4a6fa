-- Where the lines of a batch lie in their files.
CREATE OR REPLACE TEMP TABLE places AS SELECT * EXCLUDE (line) FROM lines
