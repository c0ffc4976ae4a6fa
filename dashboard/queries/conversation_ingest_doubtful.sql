-- Rows of the batch that Python has to read.
SELECT line_row FROM parsed WHERE doubtful
