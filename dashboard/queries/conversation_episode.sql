-- The figures of one episode.
SELECT
    episode_id, episode, env, difficulty, correct AS passed, ending, reward, turns, max_turns, tool_calls, duration_ms
FROM conversation_episodes
WHERE counted AND run_id = $run_id AND episode_id = $episode_id
