-- Table `conversation_episodes`: the last valid record of each episode, with one word for how it ended. What makes an
-- episode worth -1 outweighs how it ended; the words are those of dashboard/analysis/conversations/words.py.
CREATE TABLE conversation_episodes AS
SELECT
    *,
    CASE
        WHEN NOT counted THEN NULL
        WHEN violation = 'unparsable_action' THEN 'unparsable'
        WHEN violation = 'invalid_tool_call' THEN 'invalid_call'
        WHEN violation IS NOT NULL THEN violation
        ELSE termination
    END AS ending
FROM conversation_records
QUALIFY row_number() OVER (PARTITION BY run_id, episode_id ORDER BY line_offset DESC) = 1
