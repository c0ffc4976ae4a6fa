-- Where the record of one episode lies in its trace file.
SELECT line_offset, line_length FROM episodes WHERE run_id = $run_id AND episode_id = $episode_id
