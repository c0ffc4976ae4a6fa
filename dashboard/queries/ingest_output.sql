-- The rows of a finished table with the run they belong to. `$table` is the table's name.
SELECT s.run_id, t.* FROM $table t JOIN stretches s USING (stretch)
