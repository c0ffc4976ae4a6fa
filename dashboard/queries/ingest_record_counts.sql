-- Valid records by stretch.
SELECT stretch, count(*) FROM stage_records GROUP BY stretch
