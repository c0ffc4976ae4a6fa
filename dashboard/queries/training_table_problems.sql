-- Table `training_problems`: what is wrong with the files of each round, one row a problem.
CREATE TABLE training_problems AS
SELECT o.source, n.run_id, NULL::BIGINT AS group_index, n.file, n.kind, n.problem
FROM round_notes n JOIN rounds_found o USING (run_id)
UNION ALL BY NAME
SELECT o.source, l.run_id, CAST(l.group_name[7:] AS BIGINT) AS group_index, t.file, t.kind, t.problem
FROM read_parquet($files) t
JOIN live l USING (segment, group_name)
JOIN rounds_found o USING (run_id)
UNION ALL BY NAME
SELECT
    source, run_id, max(group_index) AS group_index, NULL AS file, 'repeated' AS kind,
    'episode ' || episode_id || ' is in ' || count(DISTINCT group_index) || ' groups' AS problem
FROM training_rollouts
WHERE counted AND episode_id IS NOT NULL
GROUP BY source, run_id, episode_id
HAVING count(DISTINCT group_index) > 1
UNION ALL BY NAME
SELECT
    source, run_id, group_index, NULL AS file, 'size' AS kind,
    rollouts || ' rollouts, a group has 8' AS problem
FROM training_groups
WHERE rollouts <> 8
ORDER BY source, run_id, group_index NULLS FIRST, file
