"""Word lists of the generated catalogue: one JSON file a department, and what all of them share."""
