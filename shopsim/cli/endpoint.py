"""What the commands that ask a chat endpoint share: the endpoint that their options name."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from shopsim.chat import Endpoint

__all__ = ["KEY_HELP", "endpoint_of", "json_object"]

KEY_HELP: Final = "Environment variable with the key; none is sent without it."

_OURS: Final = frozenset({"model", "messages", "stream", "tools"})


def endpoint_of(
    base_url: str | None,
    model: str | None,
    key_variable: str | None,
    timeout: float,
    retries: int,
    sampling: str | None = None,
    *,
    prefix: str = "",
) -> Endpoint | None:
    """The endpoint that the options name; None when none of them is given.

    ``prefix`` stands before the options' names in messages. Raises :class:`~shopsim.errors.UsageError` for
    half an endpoint, for a variable without a key, and for a sampling that is no JSON object or holds what
    the client sets itself.
    """
    from shopsim.chat import Endpoint
    from shopsim.errors import UsageError

    if base_url is None and model is None and key_variable is None and sampling is None:
        return None
    if base_url is None or model is None:
        raise UsageError(f"an endpoint needs both --{prefix}base-url and --{prefix}model")
    if key_variable is not None and not os.environ.get(key_variable, "").strip():
        raise UsageError(f"--{prefix}key-variable {key_variable}: that environment variable holds no key")
    fields = json_object(sampling, "--sampling")
    if _OURS & fields.keys():
        raise UsageError(f"--sampling: must be without {', '.join(sorted(_OURS))}")
    return Endpoint(base_url, model, key_variable, timeout, retries, fields)


def json_object(text: str | None, option: str) -> dict[str, Any]:
    """The JSON object that an option holds, empty when it is not given. Raises ``UsageError`` otherwise."""
    from shopsim.errors import UsageError

    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{option}: no JSON ({error})") from None
    if not isinstance(value, dict):
        raise UsageError(f"{option}: must be a JSON object")
    return value
