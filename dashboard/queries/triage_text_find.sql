-- Indexed texts that hold every term, of records that still count, in the order of the runs asked for.
-- `first_term` is asked for on its own because that is fastest.
WITH hit AS (
    SELECT i.run_id, i.episode_id, i.line_offset, i.kind, i.position, i.filename, i.file_row_number AS row_number
    FROM read_parquet($files, filename = true, file_row_number = true) AS i
    WHERE contains(i.folded, $first_term)
        AND list_contains($kinds, i.kind)
        AND len(list_filter(CAST($terms AS VARCHAR[]), lambda term: NOT contains(i.folded, term))) = 0
)
SELECT h.run_id, h.episode_id, e.task_id, e.success, h.kind, h.position, h.filename, h.row_number
FROM hit h
JOIN judged e USING (run_id, episode_id, line_offset)
WHERE list_contains($run_ids, h.run_id)
    AND ($outcome = 'all' OR e.success = ($outcome = 'success'))
ORDER BY list_position($run_ids, h.run_id), e.task_id, e.sample_id, h.episode_id, h.position,
    list_position($kinds, h.kind)
