-- The file that holds the record of one episode of a round: the one that counts, in the last group.
SELECT group_index, file
FROM training_rollouts
WHERE run_id = $run_id AND episode_id = $episode_id AND has_record
ORDER BY counted DESC, group_index DESC
LIMIT 1
