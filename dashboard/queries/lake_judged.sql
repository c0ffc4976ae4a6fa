-- View `judged`: the episodes as every page scores them, by one definition. Scored is a complete episode whose
-- final reward is a finite number; that number is the strict reward. Success is as recorded, and where it is not,
-- it follows from the strict reward, which is 1 exactly when all four components are (spec 03). What is not scored
-- has neither reward nor components here, whatever its record says of them: those are in `episodes`.
CREATE VIEW judged AS
SELECT * REPLACE (
    CASE WHEN scored THEN reward END AS reward,
    CASE WHEN scored THEN reward END AS r_strict,
    CASE WHEN scored THEN r_loose END AS r_loose,
    CASE WHEN scored THEN r_type END AS r_type,
    CASE WHEN scored THEN r_att END AS r_att,
    CASE WHEN scored THEN r_option END AS r_option,
    CASE WHEN scored THEN r_price END AS r_price,
    CASE WHEN scored THEN coalesce(r_success, CAST(reward = 1 AS DOUBLE)) END AS r_success,
    scored AND coalesce(r_success, CAST(reward = 1 AS DOUBLE)) = 1 AS success
)
FROM episodes
