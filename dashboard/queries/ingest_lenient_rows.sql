-- Lines that only a lenient reader such as DuckDB's takes for JSON.
SELECT line_row FROM lines WHERE has_lenient_syntax(line)
