-- Reading rules for single JSON values, as Python's json sees them: a value of a wrong type is NULL, never
-- a converted one. Arguments are JSON text as from_json gives it for a field declared JSON.
CREATE OR REPLACE TEMP MACRO js_text(x) AS
    CASE WHEN starts_with(CAST(x AS VARCHAR), '"') THEN json_extract_string(x, '$') END;

CREATE OR REPLACE TEMP MACRO js_number(x) AS
    CASE WHEN isfinite(try_cast(CAST(x AS VARCHAR) AS DOUBLE)) THEN try_cast(CAST(x AS VARCHAR) AS DOUBLE) END;

CREATE OR REPLACE TEMP MACRO js_integer(x) AS
    CASE WHEN regexp_full_match(CAST(x AS VARCHAR), '-?[0-9]+') THEN try_cast(CAST(x AS VARCHAR) AS BIGINT) END;

-- A count (tokens): the whole part of any finite number.
CREATE OR REPLACE TEMP MACRO js_count(x) AS
    coalesce(js_integer(x), try_cast(trunc(js_number(x)) AS BIGINT));

CREATE OR REPLACE TEMP MACRO js_boolean(x) AS
    CASE CAST(x AS VARCHAR) WHEN 'true' THEN true WHEN 'false' THEN false END;

-- What Python calls true: anything but null, false, zero and what is empty.
CREATE OR REPLACE TEMP MACRO js_truthy(x) AS
    x IS NOT NULL
    AND CAST(x AS VARCHAR) NOT IN ('null', 'false', '""', '{}', '[]')
    AND try_cast(CAST(x AS VARCHAR) AS DOUBLE) IS DISTINCT FROM 0;

CREATE OR REPLACE TEMP MACRO js_texts(x) AS
    CASE WHEN starts_with(CAST(x AS VARCHAR), '[')
    THEN list_filter(list_transform(from_json(x, '["JSON"]'), lambda v: js_text(v)), lambda v: v IS NOT NULL) END;

-- Whether some object of the record gives a key twice. Objects inside lists of lists are not looked into.
CREATE OR REPLACE TEMP MACRO repeats(lists) AS
    coalesce(list_bool_or(list_transform(lists, lambda keys: len(keys) <> list_unique(keys))), false);

CREATE OR REPLACE TEMP MACRO has_repeated_keys(line) AS
    len(json_keys(line)) <> list_unique(json_keys(line))
    OR repeats(json_keys(line, '$.*'))
    OR repeats(json_keys(line, '$.*.*'))
    OR repeats(json_keys(line, '$.steps[*]'))
    OR repeats(json_keys(line, '$.steps[*].*'))
    OR repeats(json_keys(line, '$.steps[*].*.*'));

-- What DuckDB takes for JSON and Python does not: a comma before a closing bracket, nan and inf in any
-- spelling. May be true for harmless text; never false where it matters.
CREATE OR REPLACE TEMP MACRO has_lenient_syntax(line) AS
    regexp_matches(line, ',\s*[}\]]|(?i)[:,\[\s-](?:nan|inf(?:inity)?)\s*(?:[,}\]\s]|$)');

-- An answer of the environment that is no object looks like an empty one.
CREATE OR REPLACE TEMP MACRO hides_wrong_type(step) AS
    step.environment IS NOT NULL AND step.environment.done IS NULL AND step.environment.action_feedback IS NULL
    AND step.environment.observation_state IS NULL;
