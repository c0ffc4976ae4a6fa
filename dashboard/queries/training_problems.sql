-- What is wrong with the files of one source's rounds.
SELECT run_id, group_index, file, kind, problem
FROM training_problems
WHERE source = $source
ORDER BY run_id, group_index NULLS FIRST, kind, file
