-- Where the counting records of a run lie in its trace file, in file order.
SELECT episode_id, line_offset, line_length FROM episodes WHERE run_id = $run_id ORDER BY line_offset
