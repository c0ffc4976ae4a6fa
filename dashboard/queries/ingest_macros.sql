-- Reading rules for single JSON values, as Python's json sees them: a value of a wrong type is NULL, never
-- a converted one. Arguments are JSON text as from_json gives it for a field declared JSON.
CREATE OR REPLACE MACRO js_text(x) AS
    CASE WHEN starts_with(CAST(x AS VARCHAR), '"') THEN json_extract_string(x, '$') END;

CREATE OR REPLACE MACRO js_number(x) AS
    CASE WHEN isfinite(try_cast(CAST(x AS VARCHAR) AS DOUBLE)) THEN try_cast(CAST(x AS VARCHAR) AS DOUBLE) END;

CREATE OR REPLACE MACRO js_integer(x) AS
    CASE WHEN regexp_full_match(CAST(x AS VARCHAR), '-?[0-9]+') THEN try_cast(CAST(x AS VARCHAR) AS BIGINT) END;

-- A count (tokens): the whole part of a number of at most 2**53 (shopsim.rollout.summary.token_count).
CREATE OR REPLACE MACRO js_count(x) AS
    CASE WHEN abs(try_cast(CAST(x AS VARCHAR) AS DOUBLE)) <= 9007199254740992
    THEN CAST(trunc(try_cast(CAST(x AS VARCHAR) AS DOUBLE)) AS BIGINT) END;

-- The code of the first of two error objects that has one.
CREATE OR REPLACE MACRO js_code(x, y) AS
    CASE WHEN x IS NOT NULL OR y IS NOT NULL
    THEN coalesce(js_text(json_extract(x, '$.code')), js_text(json_extract(y, '$.code'))) END;

CREATE OR REPLACE MACRO js_boolean(x) AS
    CASE CAST(x AS VARCHAR) WHEN 'true' THEN true WHEN 'false' THEN false END;

-- What Python calls true: anything but null, false, zero and what is empty.
CREATE OR REPLACE MACRO js_truthy(x) AS
    x IS NOT NULL
    AND CAST(x AS VARCHAR) NOT IN ('null', 'false', '""', '{}', '[]')
    AND try_cast(CAST(x AS VARCHAR) AS DOUBLE) IS DISTINCT FROM 0;

-- An answer of the environment that is no object looks like an empty one.
CREATE OR REPLACE MACRO hides_wrong_type(step) AS
    step.environment IS NOT NULL AND step.environment.done IS NULL AND step.environment.action_feedback IS NULL
    AND step.environment.observation_state IS NULL;
