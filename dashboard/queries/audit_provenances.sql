-- The different provenances in a run's records, the most frequent first, each with its first episode.
SELECT count(*) AS episodes, arg_min(episode_id, line_offset) AS episode_id, min(line_offset) AS line_offset
FROM episodes
WHERE run_id = $run_id AND provenance_hash IS NOT NULL
GROUP BY provenance_hash
ORDER BY episodes DESC, line_offset
