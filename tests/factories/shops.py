"""Small shops for environment tests: a corpus, its real search index, goals and environments over them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shopsim.catalog import Corpus, parse_corpus
from shopsim.catalog.tiny import tiny_records
from shopsim.env.shop import Shop
from shopsim.env.shop_env import ShopEnv
from shopsim.env.terms import TermExtractor
from shopsim.jsonio import sha256_text
from shopsim.search import SearchIndex, build_search_index
from shopsim.settings import Settings
from shopsim.tasks.goals import build_goals

__all__ = ["AWKWARD_ASIN", "SmallShop", "awkward_record", "shelf_records"]

AWKWARD_ASIN = "700000000001"


class SmallShop:
    """A corpus of raw records with everything that an environment needs. ``folder`` holds the index."""

    def __init__(self, records: Sequence[Mapping[str, Any]], folder: Path, **settings: Any) -> None:
        self.corpus: Corpus = parse_corpus(records, sha256_text(json.dumps(list(records))))
        self.goals = build_goals(self.corpus)
        self.settings = Settings(workspace=folder, **settings)
        self.terms = TermExtractor()
        path = folder / "search.sqlite"
        build_search_index(self.corpus.products, path, product_data_sha256=self.corpus.sha256)
        self.search = SearchIndex.open(path)
        self.shop = Shop(self.corpus, self.search, self.settings.search)

    def env(self) -> ShopEnv:
        """A fresh environment."""
        return ShopEnv(self.corpus, self.goals, self.search, self.terms, self.settings, shop=self.shop)


def shelf_records(count: int) -> list[dict[str, Any]]:
    """``count`` near-equal lamps that one search for 台灯 finds, plus the tiny catalogue."""
    lamps = [
        {
            "asin": f"{800000000000 + number}",
            "title": f"护眼台灯 第{number}款",
            "shop_name": "亮亮灯具",
            "category": "家居›灯具›台灯",
            "pricing": [float(number)],
            "customization_options": {"色温": [{"value": "暖光"}, {"value": "白光"}]},
            "attribute": ["护眼"],
            "full_description": "护眼台灯",
        }
        for number in range(1, count + 1)
    ]
    return [*tiny_records(), *lamps]


def awkward_record() -> dict[str, Any]:
    """A product whose axes and values hold everything that a click value can trip over."""
    return {
        "asin": AWKWARD_ASIN,
        "title": "怪怪 <b>测试</b> 杯子",
        "shop_name": "怪怪\n小店",
        "category": "家居›杯子",
        "pricing": [],
        "customization_options": {
            "a=b": [{"value": "c"}, {"value": "X/Y"}],
            "a": [{"value": "b=c"}, {"value": "d] e"}],
            "尺码 [cm]": [{"value": "L"}, {"value": "ＸＬ"}, {"value": "straße"}],
            "goal": [{"value": f"{number}号"} for number in range(130)],
        },
        "attribute": [f"属性{number}" for number in range(14)],
        "full_description": "怪怪 测试 杯子",
        "user_persona": {"__reasoning__": "secret", "偏好": [{"__reasoning__": "secret", "颜色": "白"}]},
        "instructions": [
            {
                "task_id": 90,
                "instruction": "买怪怪杯子，要属性1",
                "instruction_simple": "买怪怪杯子",
                "attributes": ["属性1"],
                "instruction_options": [],
                "price_upper": None,
            }
        ],
    }
