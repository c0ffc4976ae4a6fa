"""Versions of every format and rule that recorded data depends on: one place, for writers and readers."""

from __future__ import annotations

from typing import Final

ENVIRONMENT_VERSION: Final = "shopsimulator-paper-aligned-v8"
OBSERVATION_VERSION: Final = "shopping-observation-v7"
SEARCH_VERSION: Final = "shopsimulator-multifield-bm25-v3"
OPTION_DOCUMENT_VERSION: Final = "public-axis-value-v1"
REWARD_VERSION: Final = "shopsimulator-paper-reward-v2"
VARIANT_PRICE_VERSION: Final = "variant-price-paper-v2"
BUDGET_PARSER_VERSION: Final = "instruction-budget-v2"
ACTION_PROTOCOL: Final = "openai-function-tools-repair-v3"

EPISODE_SCHEMA: Final = "shopsimrl-episode-v4"
MANIFEST_SCHEMA: Final = "shopsimrl-run-manifest-v1"
SUMMARY_SCHEMA: Final = "shopsimrl-eval-summary-v2"
COMPARISON_SCHEMA: Final = "shopsimrl-paired-run-comparison-v1"
CURRICULUM_SCHEMA: Final = "shopsimrl-skill-curriculum-v1"

DATASET_SCHEMA: Final = "shopsimulator-cleaned-v2"
SPLITS_SCHEMA: Final = "shopsimrl-persona-splits-v1"

RLVE_ENVIRONMENT_VERSION: Final = "ecomrlve-environment-v1"
RLVE_OBSERVATION_VERSION: Final = "ecomrlve-observation-v1"
RLVE_REWARD_VERSION: Final = "ecomrlve-reward-v1"
RLVE_EPISODE_SCHEMA: Final = "ecomrlve-episode-v1"
RLVE_MANIFEST_SCHEMA: Final = "ecomrlve-run-manifest-v1"
RLVE_CURRICULUM_SCHEMA: Final = "ecomrlve-curriculum-v1"
RLVE_CATALOGUE_SCHEMA: Final = "ecomrlve-catalogue-v1"
RLVE_SUMMARY_SCHEMA: Final = "ecomrlve-summary-v1"
RLVE_COMPARISON_SCHEMA: Final = "ecomrlve-comparison-v1"
