-- Counts of each stretch of one ingest.
SELECT
    stretch,
    count(*) AS unique_episodes,
    count(*) FILTER (complete) AS completed,
    count(*) FILTER (NOT complete) AS failed,
    count(*) FILTER (scored) AS scored
FROM winners
GROUP BY stretch
