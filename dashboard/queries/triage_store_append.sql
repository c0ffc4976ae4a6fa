-- SQLite: append one event.
INSERT INTO events (
    at, reviewer, target, kind, run_id, episode_id, task_id, catalogue, record, action, present, labels,
    severity, comment, restores
)
VALUES (
    :at, :reviewer, :target, :kind, :run_id, :episode_id, :task_id, :catalogue, :record, :action, :present,
    :labels, :severity, :comment, :restores
)
