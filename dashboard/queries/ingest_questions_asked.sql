-- The questions that Python answers.
SELECT * EXCLUDE (record_ids) FROM questions ORDER BY question
