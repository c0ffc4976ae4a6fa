-- View `conversation_parts`: one row a figure of an episode's verdict.
CREATE VIEW conversation_parts AS
SELECT run_id, episode_id, env, difficulty, correct, ending, unnest(parts, recursive := true)
FROM conversation_episodes
WHERE counted
