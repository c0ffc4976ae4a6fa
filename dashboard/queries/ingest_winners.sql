-- Of several records of one episode the last one counts (spec 04 A).
CREATE OR REPLACE TABLE winners AS
SELECT * FROM stage_records
QUALIFY row_number() OVER (PARTITION BY stretch, episode_id ORDER BY record_id DESC) = 1
