-- Where the lines of a file lie that was read as a whole, and which of them Python has to read (`lines` has them).
CREATE OR REPLACE TABLE line_places AS SELECT * FROM lines
