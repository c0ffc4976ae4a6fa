-- The rows of a finished table with the run they belong to; the relation is put in by the program.
SELECT s.run_id, t.* FROM $rows t JOIN stretches s USING (stretch)
