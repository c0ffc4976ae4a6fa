-- Figures of the verdicts of one run's failed episodes.
SELECT episode_id, env, part, value
FROM conversation_parts
WHERE run_id = $run_id AND NOT correct
ORDER BY env, episode_id, part
