"""A conformance checker for shopping environments, in the spirit of Gymnasium's ``check_env``.

Anything with ``reset``, ``step`` and ``terminate`` can be checked: the bundled ``ShopEnv``, the client of a
running service, or an environment of yours.
"""

from shopsim.conformance import RuleResult
from shopsim.env.conformance.check import check_env
from shopsim.env.conformance.probe import ShoppingEnvironment
from shopsim.env.conformance.report import ConformanceReport

__all__ = ["ConformanceReport", "RuleResult", "ShoppingEnvironment", "check_env"]
