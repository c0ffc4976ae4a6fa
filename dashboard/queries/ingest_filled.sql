-- Stretches that have rows in a finished table. `$table` is the table's name.
SELECT DISTINCT stretch FROM $table ORDER BY stretch
