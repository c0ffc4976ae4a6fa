-- Where the wanted product stood on the result pages that one episode saw.
SELECT step_index, query, page, rank, opened
FROM exposures
WHERE run_id = $run_id AND episode_id = $episode_id AND is_goal
ORDER BY search_no, page, rank
