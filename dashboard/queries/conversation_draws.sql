-- Numbered episodes of the adaptive curriculum in their order, each with the window that it was drawn from.
SELECT run_id, env, episode, difficulty, correct, window_low, window_high
FROM conversation_episodes
WHERE counted AND episode IS NOT NULL AND window_high IS NOT NULL AND list_contains($run_ids, run_id)
ORDER BY run_id, episode, line_offset
