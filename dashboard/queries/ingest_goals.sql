-- The goals of the winning records. `attributes_met` is true or false when that holds for every wanted
-- attribute: the number of matches says so, or nothing was bought; else NULL.
CREATE OR REPLACE VIEW goals AS
SELECT
    *,
    CASE WHEN NOT purchased THEN false WHEN num_attr_matches = len(goal_attributes) THEN true END AS attributes_met
FROM (
    SELECT *, coalesce(termination_reason = 'purchase', false) AND bought_asin IS NOT NULL AS purchased
    FROM winners
)
