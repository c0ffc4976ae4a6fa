-- Rows of one segment whose episodes no later segment replaced.
SELECT t.* FROM read_parquet($file) t SEMI JOIN lasting l ON l.episode_id = t.episode_id AND l.place = $place
