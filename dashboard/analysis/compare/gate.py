"""A regression gate for training loops: ``r_success>=-0.02`` fails when the interval may be worse."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from dashboard.analysis.compare.bootstrap import Interval
from dashboard.analysis.compare.catalogues import Kinship
from dashboard.analysis.compare.comparison import Comparison
from dashboard.analysis.compare.pairing import METRICS
from shopsim.errors import UsageError

__all__ = ["Gate", "GateResult", "parse_gate"]

_ROUNDING: Final = 1e-9
"""So far may an interval's end lie beyond the bound: interpolation rounds, and no metric is that fine."""

_GATE = re.compile(r"\s*(?P<metric>[a-z_]+)\s*(?P<sense>>=|<=)\s*(?P<bound>[-+]?\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether the gate holds, and the interval end that decided."""

    passed: bool
    message: str


@dataclass(frozen=True, slots=True)
class Gate:
    """``metric >= bound`` asks the interval's lower end, ``metric <= bound`` its upper end."""

    metric: str
    sense: str
    bound: float

    def check(self, comparison: Comparison, *, kin: Kinship = "same") -> GateResult:
        """Test the gate; a metric that the runs do not share fails it: no evidence is not a pass.

        So do runs on different catalogues (``kin``), whose tasks share numbers only.
        """
        if kin == "different":
            return GateResult(False, f"gate {self.metric}: fails, recorded on different catalogues")
        entry = comparison.metric(self.metric)
        if entry is None or entry.interval is None:
            return GateResult(False, f"{self.metric}: no task on which both runs have it")
        return self.judge(entry.interval, entry.n)

    def judge(self, interval: Interval, n: int) -> GateResult:
        """Test the gate on the interval of a difference over ``n`` pairs."""
        end = interval.low if self.sense == ">=" else interval.high
        slack = end - self.bound if self.sense == ">=" else self.bound - end
        passed = slack >= -_ROUNDING * max(1.0, abs(self.bound))
        side = "lower" if self.sense == ">=" else "upper"
        verdict = "holds" if passed else "fails"
        return GateResult(
            passed,
            f"gate {self.metric}{self.sense}{self.bound:g} {verdict}: {side} end {end:+.6g}, n = {n}",
        )


def parse_gate(text: str, known: Collection[str] = METRICS) -> Gate:
    """Read ``METRIC>=NUMBER`` or ``METRIC<=NUMBER``. Raises :class:`UsageError` naming those ``known``."""
    match = _GATE.fullmatch(text)
    if match is None:
        raise UsageError(f"gate {text!r}: write METRIC>=NUMBER or METRIC<=NUMBER, such as r_success>=-0.02")
    if match["metric"] not in known:
        raise UsageError(f"gate {text!r}: unknown metric; known are {', '.join(known)}")
    return Gate(match["metric"], match["sense"], float(match["bound"]))
