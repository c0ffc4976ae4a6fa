-- Domains and termination reasons of some runs: what `export` can filter by.
SELECT DISTINCT 'domain' AS field, domain AS value FROM episodes
WHERE run_id IN (SELECT unnest($run_ids)) AND domain IS NOT NULL
UNION ALL
SELECT DISTINCT 'reason', termination_reason FROM episodes
WHERE run_id IN (SELECT unnest($run_ids)) AND termination_reason IS NOT NULL
