-- Behaviour of every episode of the runs (spec 04 E): one row an episode. `queries` are the texts typed, in
-- order; `path` its action types. The page of a step is the page before it. Without usage tokens are NULL.
WITH numbered AS (
    SELECT
        *,
        coalesce(total_tokens, prompt_tokens + completion_tokens) AS tokens,
        CASE
            WHEN action_type = 'repair' THEN 'protocol_repair'
            WHEN page_type IN ('search_home', 'search_results', 'product_detail') THEN page_type
            ELSE 'other'
        END AS phase,
        count(*) FILTER (action_type = 'search') OVER so_far AS search_no,
        count(*) FILTER (action_type = 'open_product') OVER so_far AS visit
    FROM steps
    WHERE list_contains($run_ids, run_id)
    WINDOW so_far AS (PARTITION BY run_id, episode_id ORDER BY position)
),
-- Leaving a product page clears its options, so an axis is changed within one visit only.
chosen AS (
    SELECT
        run_id, episode_id,
        value IS DISTINCT FROM lag(value, 1, value) OVER (
            PARTITION BY run_id, episode_id, visit, axis ORDER BY position
        ) AS changes
    FROM (
        SELECT
            *,
            argument[: instr(argument, '=') - 1] AS axis,
            argument[instr(argument, '=') + 1 :] AS value
        FROM numbered
        WHERE action_type = 'select_option'
    )
),
changed AS (
    SELECT run_id, episode_id, count(*) FILTER (changes) AS option_changes FROM chosen GROUP BY ALL
),
walked AS (
    SELECT
        run_id, episode_id,
        count(*) FILTER (action_type = 'search') AS searches,
        list(argument ORDER BY position) FILTER (action_type = 'search') AS queries,
        coalesce(sum(length(argument)) FILTER (action_type = 'search'), 0) AS query_characters,
        count(*) FILTER (action_type = 'open_product') AS product_opens,
        count(DISTINCT lower(argument)) FILTER (action_type = 'open_product') AS unique_products,
        count(*) FILTER (action_type = 'select_option') AS option_selections,
        count(*) FILTER (action_type = 'backtrack') AS backtracks,
        count(*) FILTER (action_type = 'paginate') AS paginations,
        count(*) FILTER (action_type = 'invalid_action') AS invalid_actions,
        count(*) FILTER (action_type = 'repair') AS repairs,
        sum(tokens) AS tokens,
        sum(completion_tokens) AS completion_tokens,
        max(tokens) FILTER (position = 1) AS first_turn_tokens,
        sum(reasoning_chars) AS reasoning_characters,
        count(*) FILTER (phase = 'search_home') AS turns_search_home,
        count(*) FILTER (phase = 'search_results') AS turns_search_results,
        count(*) FILTER (phase = 'product_detail') AS turns_product_detail,
        count(*) FILTER (phase = 'other') AS turns_other,
        count(*) FILTER (phase = 'protocol_repair') AS turns_protocol_repair,
        coalesce(sum(tokens) FILTER (phase = 'search_home'), 0) AS tokens_search_home,
        coalesce(sum(tokens) FILTER (phase = 'search_results'), 0) AS tokens_search_results,
        coalesce(sum(tokens) FILTER (phase = 'product_detail'), 0) AS tokens_product_detail,
        coalesce(sum(tokens) FILTER (phase = 'other'), 0) AS tokens_other,
        coalesce(sum(tokens) FILTER (phase = 'protocol_repair'), 0) AS tokens_protocol_repair,
        list(action_type ORDER BY position) AS path
    FROM numbered
    GROUP BY run_id, episode_id
),
first_opened AS (
    SELECT run_id, episode_id, search_no, lower(argument) AS asin
    FROM numbered
    WHERE action_type = 'open_product' AND visit = 1
),
ranked AS (
    SELECT f.run_id, f.episode_id, min(x.rank) AS first_opened_rank
    FROM first_opened f
    JOIN exposures x ON x.run_id = f.run_id AND x.episode_id = f.episode_id AND x.search_no = f.search_no
        AND lower(x.asin) = f.asin
    GROUP BY ALL
),
exposed AS (
    SELECT run_id, episode_id, count(DISTINCT asin) AS exposed_products
    FROM exposures
    WHERE list_contains($run_ids, run_id)
    GROUP BY ALL
)
SELECT
    e.run_id, e.episode_id, e.task_id,
    coalesce(e.split, '') AS split,
    coalesce(e.sample_id, 0) AS sample_id,
    CASE
        WHEN NOT e.complete THEN 'failed'
        WHEN e.r_success IS NULL THEN 'unscored'
        WHEN e.success THEN 'success'
        ELSE 'failure'
    END AS outcome,
    CASE WHEN e.complete THEN coalesce(e.termination_reason, 'unknown') ELSE 'failed' END AS reason,
    e.r_strict, e.shown_instruction,
    e.model_steps AS turns,
    w.* EXCLUDE (run_id, episode_id, queries, path),
    coalesce(w.queries, []) AS queries,
    coalesce(w.path, []) AS path,
    coalesce(c.option_changes, 0) AS option_changes,
    r.first_opened_rank,
    coalesce(x.exposed_products, 0) AS exposed_products
FROM judged e
LEFT JOIN walked w USING (run_id, episode_id)
LEFT JOIN changed c USING (run_id, episode_id)
LEFT JOIN ranked r USING (run_id, episode_id)
LEFT JOIN exposed x USING (run_id, episode_id)
WHERE list_contains($run_ids, e.run_id)
ORDER BY e.run_id, e.task_id, sample_id, e.episode_id
