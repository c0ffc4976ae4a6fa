-- The figures of the valid records of a batch. `counted`: the episode is complete (known schema, `end` is an object)
-- and says what every figure needs; what is complete but does not is in no figure. `facts`: what the user knew (the
-- parts of a journey included), `facts_told`: those told while the agent could act on them (rlve/rollout/summary.py).
WITH told AS (
    SELECT
        line_offset, line_length,
        record.*,
        json_type(record."end") IS NOT DISTINCT FROM 'OBJECT' AS ended,
        record."end" AS told_end
    FROM parsed
    WHERE NOT doubtful
),
figures AS (
    SELECT
        line_offset, line_length,
        js_text(episode_id) AS episode_id,
        ended AND js_text(schema_version) IS NOT DISTINCT FROM 'ecomrlve-episode-v1' AS complete,
        js_integer(episode) AS episode,
        js_text(env) AS env,
        js_integer(difficulty) AS difficulty,
        js_integer(seed) AS seed,
        js_integer("window".low) AS window_low,
        js_integer("window".high) AS window_high,
        js_integer(max_turns) AS max_turns,
        js_text(json_extract(told_end, '$.termination')) AS termination,
        js_boolean(json_extract(told_end, '$.correct')) AS correct,
        js_number(json_extract(told_end, '$.reward.total')) AS reward,
        js_number(json_extract(told_end, '$.reward.task')) AS r_task,
        js_number(json_extract(told_end, '$.reward.efficiency')) AS r_efficiency,
        js_number(json_extract(told_end, '$.reward.hallucination')) AS r_hallucination,
        js_text(json_extract(told_end, '$.reward.violation')) AS violation,
        coalesce(len(turns), 0) AS turns,
        coalesce(len(flatten(list_transform(turns, lambda t: t.tool_results))), 0) AS tool_calls,
        coalesce(len(list_filter(
            flatten(list_transform(turns, lambda t: t.tool_results)), lambda r: js_boolean(r.ok) IS NOT DISTINCT FROM false
        )), 0) AS tool_errors,
        coalesce(len(list_filter(
            flatten(list_transform(turns, lambda t: t.tool_results)), lambda r: js_boolean(r.invalid) IS NOT DISTINCT FROM true
        )), 0) AS invalid_calls,
        list_filter(list_concat(
            list_transform(coalesce(private.facts, []), lambda f: js_text(f.name)),
            flatten(list_transform(
                coalesce(private.parts, []),
                lambda p: list_transform(coalesce(p.facts, []), lambda f: js_text(p.env) || '/' || js_text(f.name))
            ))
        ), lambda name: name IS NOT NULL) AS fact_names,
        list_transform(try_cast(json_extract(told_end, '$.told') AS JSON[]), lambda name: js_text(name)) AS told_names,
        list_filter(list_transform(turns, lambda t: js_text(t."user".act)), lambda act: act IS NOT NULL) AS acts,
        list_filter(
            list_transform(
                map_entries(try_cast(json_extract(told_end, '$.verdict.parts') AS MAP(VARCHAR, JSON))),
                lambda e: {'part': e.key, 'value': js_number(e.value)}
            ),
            lambda e: e.value IS NOT NULL
        ) AS parts,
        array_to_string(
            list_filter(list_transform(conversation, lambda said: js_text(said.content)), lambda said: said IS NOT NULL),
            chr(10)
        ) AS said,
        js_number(duration_ms) AS duration_ms
    FROM told
)
SELECT
    * EXCLUDE (fact_names, told_names),
    len(fact_names) AS facts,
    len(list_filter(fact_names, lambda name: list_contains(coalesce(told_names, []), name))) AS facts_told,
    complete AND env IS NOT NULL AND difficulty IS NOT NULL AND termination IS NOT NULL AND correct IS NOT NULL
        AND reward IS NOT NULL AND r_task IS NOT NULL AND r_efficiency IS NOT NULL AND r_hallucination IS NOT NULL
        AS counted
FROM figures
ORDER BY line_offset
