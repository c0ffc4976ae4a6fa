-- The texts of some rows of the index, by file and row number (both as lists of equal length).
SELECT i.filename, i.file_row_number AS row_number, i.text
FROM read_parquet($files, filename = true, file_row_number = true) AS i
JOIN (SELECT unnest($names) AS filename, unnest($rows) AS row_number) AS wanted
    ON i.filename = wanted.filename AND i.file_row_number = wanted.row_number
