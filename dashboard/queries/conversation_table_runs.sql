-- View `conversation_runs`: every run with the counts of its file.
CREATE VIEW conversation_runs AS
SELECT
    r.*,
    coalesce(e.episodes, 0) AS unique_episodes,
    r.records - coalesce(e.episodes, 0) AS duplicate_records,
    coalesce(e.complete, 0) AS complete,
    coalesce(e.counted, 0) AS counted,
    coalesce(e.unnumbered, 0) AS unnumbered,
    coalesce(e.adaptive, 0) AS adaptive
FROM conversation_runs_found r
LEFT JOIN (
    SELECT
        run_id,
        count(*) AS episodes,
        count(*) FILTER (complete) AS complete,
        count(*) FILTER (counted) AS counted,
        count(*) FILTER (counted AND episode IS NULL) AS unnumbered,
        count(*) FILTER (counted AND window_high IS NOT NULL) AS adaptive
    FROM conversation_episodes
    GROUP BY run_id
) e USING (run_id)
