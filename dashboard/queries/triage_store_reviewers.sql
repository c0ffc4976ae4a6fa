-- SQLite: everyone who ever gave a verdict.
SELECT DISTINCT reviewer FROM events ORDER BY reviewer COLLATE NOCASE
