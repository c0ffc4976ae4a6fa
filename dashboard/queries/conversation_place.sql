-- Where the record of an episode lies in its file.
SELECT line_offset, line_length
FROM conversation_episodes
WHERE run_id = $run_id AND episode_id = $episode_id
