-- What reading met in the files of one round.
SELECT group_index, file, kind, problem
FROM training_problems
WHERE run_id = $run_id
ORDER BY group_index NULLS FIRST, file NULLS FIRST, kind, problem
