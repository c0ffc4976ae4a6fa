-- Episodes of one run as a comparison takes them: what problem each was, and its figures.
SELECT
    episode_id, episode, env, difficulty, seed,
    CAST(correct AS DOUBLE) AS r_success,
    reward,
    CAST(turns AS DOUBLE) AS turns,
    facts, facts_told,
    CASE WHEN facts > 0 THEN facts_told / facts END AS told_share,
    CAST(invalid_calls > 0 AS DOUBLE) AS invalid
FROM conversation_episodes
WHERE counted AND run_id = $run_id
ORDER BY env, difficulty, seed, line_offset
