"""No order of a set reaches a result: two interpreters with different hash seeds say the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_SCRIPT = """
from random import Random
from shopsim.jsonio import canonical_json
from shopsim.rlve.tools import Toolbox, tool_specs
from tests.factories.rlve_worlds import small_world

world = small_world(20, 5, today=None)
world.out_of_stock.discard("P02")
toolbox = Toolbox(world)
world.draw_orders(Random(3), 6, avoid=["P01", "P02"])
calls = [
    ("catalog.search", {"query": "Acme charger", "top_k": 12, "filters": {"in_stock": True}}),
    ("catalog.search", {"query": "Birch puzzle", "filters": {"attributes": {"pieces": 500, "a": 1}}}),
    ("catalog.rerank", {"query": "oak", "candidate_product_ids": ["P13", "P02", "P14", "P01"]}),
    ("cart.add", {"product_id": "P02", "quantity": 2}),
    ("order.checkout", {"shipping_address_id": "ADDR-1", "payment_method_id": "PAY-1"}),
    ("order.list", {}),
    ("policy.search", {"query": "return a delivered order by mail", "top_k": 9}),
]
print(canonical_json([toolbox.call(name, args, 1).to_wire() for name, args in calls]))
print(canonical_json(world.to_wire()))
print(canonical_json(tool_specs()))
"""


def test_results_do_not_depend_on_the_hash_seed() -> None:
    root = Path(__file__).parents[3]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b'"ok":true') == 7
