-- Valid records of the batch by stretch.
SELECT stretch, count(*) FROM readable GROUP BY stretch
