-- Products that the result pages of one episode showed, in the order in which they were shown.
SELECT asin, step_index, rank, opened
FROM exposures
WHERE run_id = $run_id AND episode_id = $episode_id
ORDER BY step_index, rank
