-- Episodes of one run as a comparison takes them: what problem each was, and its figures. Seeds are text: a column of
-- large numbers of which one is missing would come back rounded.
SELECT
    episode_id, episode, env, difficulty, CAST(seed AS VARCHAR) AS seed,
    CAST(correct AS DOUBLE) AS passed,
    reward,
    CAST(turns AS DOUBLE) AS turns,
    CASE WHEN facts > 0 THEN facts_told / facts END AS facts_told,
    CAST(invalid_calls > 0 AS DOUBLE) AS invalid_calls
FROM conversation_episodes
WHERE counted AND run_id = $run_id
ORDER BY episode NULLS LAST, line_offset
