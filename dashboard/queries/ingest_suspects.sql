-- Lines that Python has to read whatever DuckDB makes of them.
CREATE OR REPLACE TEMP TABLE suspects AS SELECT line_row FROM lines
