-- Options offered by the product pages that the records of one batch saw, one row a product.
SELECT
    record_id,
    s.environment.observation_state.product.asin AS asin,
    CAST(any_value(s.environment.observation_state.available_options) AS VARCHAR) AS options
FROM steps_of_batch
WHERE s.environment.observation_state.product.asin IS NOT NULL
GROUP BY ALL
HAVING options IS NOT NULL
