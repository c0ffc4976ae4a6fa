-- The columns of a finished table without rows. `$table` is the table's name.
SELECT s.run_id, t.* EXCLUDE (stretch) FROM $table t JOIN stretches s USING (stretch) LIMIT 0
