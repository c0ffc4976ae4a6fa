-- Counts of a run over the Parquet files that hold its episodes.
SELECT
    count(*) AS unique_episodes,
    count(*) FILTER (complete) AS completed,
    count(*) FILTER (NOT complete) AS failed,
    count(*) FILTER (scored) AS scored
FROM read_parquet($files)
