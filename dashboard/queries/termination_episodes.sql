-- The episodes behind a share: reason, error type and step count may each be left open ('' or -1).
SELECT run_id, episode_id, task_id, reason, model_steps AS steps, r_strict, error_type, error_message,
       shown_instruction
FROM (
    SELECT
        *,
        CASE WHEN complete THEN coalesce(termination_reason, 'unknown') ELSE 'failed' END AS reason,
        CASE WHEN complete THEN '' ELSE coalesce(error_type, 'unknown') END AS kind
    FROM judged
    WHERE list_contains($run_ids, run_id)
)
WHERE ($reason = '' OR reason = $reason)
    AND ($error_type = '' OR kind = $error_type)
    AND model_steps BETWEEN $steps_from AND $steps_to
ORDER BY run_id, task_id, episode_id
