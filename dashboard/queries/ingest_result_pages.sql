-- Result pages that the steps of one batch ended on.
SELECT
    record_id,
    position,
    s.environment.observation_state.search_text AS search_text,
    s.environment.observation_state.normalized_search_text AS normalized_search_text,
    js_integer(s.environment.observation_state.page) AS page,
    js_integer(s.environment.observation_state.total_results) AS total_results,
    s.environment.observation_state.products AS products
FROM steps_of_batch
WHERE s.environment.observation_state.page_type = 'search_results'
