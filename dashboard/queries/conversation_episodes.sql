-- Episodes of one run in their order; an empty filter (difficulty: -1) lets everything through. Words must all be
-- among what the user and the agent said.
SELECT
    episode_id, episode, env, difficulty, correct AS passed, ending, reward, r_task, r_efficiency, r_hallucination,
    turns, max_turns, tool_calls, duration_ms,
    left(split_part(said, chr(10), 1), 300) AS opening
FROM conversation_episodes
WHERE counted AND run_id = $run_id
    AND ($env = '' OR env = $env)
    AND ($difficulty = -1 OR difficulty = $difficulty)
    AND ($ending = '' OR ending = $ending)
    AND ($outcome = '' OR correct = ($outcome = 'passed'))
    AND len(list_filter($words, lambda word: NOT contains(lower(coalesce(said, '')), lower(word)))) = 0
ORDER BY episode NULLS LAST, line_offset
