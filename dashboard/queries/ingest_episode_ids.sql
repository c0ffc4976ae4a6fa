-- Episodes that some Parquet files hold.
SELECT episode_id FROM read_parquet($files)
