-- What the files of one ingest hold: one row a readable record.
SELECT e.stretch, e.episode_id, e.sample_id, e.scored, e.reward, a.provenance
FROM episodes e JOIN stage_assignments a USING (stretch)
