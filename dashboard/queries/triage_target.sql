-- What tells one recorded episode apart for reviewers: its task, and which recording of the id this is.
SELECT task_id, coalesce(CAST(epoch_us(started_at) AS VARCHAR), '') AS record
FROM episodes
WHERE run_id = $run_id AND episode_id = $episode_id
