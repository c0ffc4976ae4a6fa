"""How one service runs. Every queue, body and wait has a bound."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["ADMIN_TOKEN_VARIABLE", "DEFAULT_PORT", "ServiceOptions"]

ADMIN_TOKEN_VARIABLE = "SHOPSIM_ADMIN_TOKEN"
DEFAULT_PORT = 5700


class ServiceOptions(BaseModel):
    """Validated, frozen options.

    ``slots``: episodes at a time. ``max_waiting``: resets that may wait for a slot, each at most
    ``max_wait_seconds``. ``idle_seconds``: a lease unused for longer is taken back. ``admin_token``: without
    one, ``release_all`` is refused to everybody.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    slots: int = Field(default=64, ge=1, le=10_000)
    max_waiting: int = Field(default=1024, ge=0)
    max_wait_seconds: float = Field(default=600.0, gt=0)
    idle_seconds: float = Field(default=1800.0, gt=0)
    max_body_bytes: int = Field(default=1 << 18, ge=1024)
    body_seconds: float = Field(default=30.0, gt=0)
    admin_token: str | None = Field(default=None, min_length=8, repr=False)
