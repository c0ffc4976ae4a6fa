-- Which run each stretch belongs to.
CREATE OR REPLACE TABLE stretches AS
SELECT unnest($numbers) AS stretch, unnest($run_ids) AS run_id
