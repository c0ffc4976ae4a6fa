-- Lines that only a lenient reader such as DuckDB's takes for JSON.
CREATE OR REPLACE TEMP TABLE lenient AS SELECT line_row FROM lines WHERE has_lenient_syntax(line)
