-- No sets of keys are known yet, see ingest_shapes.sql.
CREATE OR REPLACE TEMP TABLE shapes (key_hash UBIGINT, repeats BOOLEAN)
