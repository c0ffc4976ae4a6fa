-- Lines that are known to need Python, whatever DuckDB makes of them.
CREATE OR REPLACE TEMP TABLE lenient AS SELECT line_row FROM lines
