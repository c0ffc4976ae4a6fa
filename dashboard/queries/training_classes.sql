-- Groups by round and triage class of one source.
SELECT round, coalesce(classification, 'not recorded') AS classification, count(*) AS n
FROM training_groups
WHERE source = $source
GROUP BY ALL
ORDER BY round, classification
