"""What the service does with a request: a table of actions over the lease pool (spec 01 §8)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from anyio.to_thread import run_sync

from shopsim.engine import Engine
from shopsim.env import ShopEnv
from shopsim.formats import ENVIRONMENT_VERSION, OBSERVATION_VERSION
from shopsim.service.errors import AdminError, RequestError
from shopsim.service.leases import LeasePool
from shopsim.service.options import ADMIN_TOKEN_VARIABLE, ServiceOptions
from shopsim.service.requests import LeaseKey, optional_flag, optional_text, required, required_text

__all__ = ["ShopService"]

_PRIMARY_REWARD: Final = "r_strict"


class ShopService:
    """Environments of one engine behind leases. Its methods run in the event loop; episodes in threads."""

    def __init__(self, engine: Engine, options: ServiceOptions) -> None:
        self.options = options
        self.pool: LeasePool[ShopEnv] = LeasePool(options, engine.new_env)
        self._engine = engine
        self._checker = engine.new_env()

    async def handle(self, body: Mapping[str, Any], admin_token: str | None) -> dict[str, Any]:
        """Answer one request body. ``admin_token`` is what the caller showed, if anything."""
        name = required_text(body, "action")
        action = _ACTIONS.get(name)
        if action is None:
            raise RequestError(f"action: {name[:40]!r} is unknown", hint=f"Known: {', '.join(_ACTIONS)}.")
        if action is _release_all:
            self._check_admin(admin_token)
        return await action(self, body)

    def health(self) -> dict[str, Any]:
        """The public state of the service."""
        return {
            "ready": True,
            "environment_slots": self.options.slots,
            "free_slots": self.pool.free_slots,
            "tasks": len(self._engine.goals),
            "environment_version": ENVIRONMENT_VERSION,
            "primary_reward": _PRIMARY_REWARD,
            "observation_version": OBSERVATION_VERSION,
        }

    def _check_admin(self, shown: str | None) -> None:
        token = self.options.admin_token
        if token is None:
            raise AdminError(
                "release_all: disabled", hint=f"Start the service with {ADMIN_TOKEN_VARIABLE} set."
            )
        if shown is None or not secrets.compare_digest(shown.encode(), token.encode()):
            raise AdminError("release_all: needs the administrator's token as a Bearer authorization")


async def _reset(service: ShopService, body: Mapping[str, Any]) -> dict[str, Any]:
    """Lease a slot and start an episode in it; an episode that cannot start frees its slot at once."""
    if "env_idx" in body:
        raise RequestError("env_idx: the service chooses the slot", hint="Leave it out of reset.")
    task_id = required(body, "idx", int)
    persona = optional_flag(body, "if_persona", True)
    mode = optional_text(body, "interaction_mode", "single_turn")
    private = optional_flag(body, "include_private_goal", False)
    service._checker.check(task_id, interaction_mode=mode)  # before it waits for a slot
    lease = await service.pool.acquire()

    def start() -> dict[str, Any]:
        return lease.resource.reset(
            task_id, persona=persona, interaction_mode=mode, include_private_goal=private
        )

    try:
        answer = await _to_the_end(start)
    except BaseException:
        service.pool.drop(lease)
        raise
    return {**answer, "env_idx": lease.slot, "lease_id": lease.lease_id}


async def _interact(service: ShopService, body: Mapping[str, Any]) -> dict[str, Any]:
    key, response = LeaseKey.of(body), required_text(body, "response")
    async with service.pool.use(key.slot, key.lease_id) as env:
        return await _to_the_end(env.step, response)


async def _terminate(service: ShopService, body: Mapping[str, Any]) -> dict[str, Any]:
    key, reason = LeaseKey.of(body), required_text(body, "termination_reason")
    async with service.pool.use(key.slot, key.lease_id) as env:
        return await _to_the_end(env.terminate, reason)


async def _release_one(service: ShopService, body: Mapping[str, Any]) -> dict[str, Any]:
    key = LeaseKey.of(body)
    service.pool.release(key.slot, key.lease_id)
    return {"released": True, "env_idx": key.slot}


async def _release_all(service: ShopService, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"released": service.pool.release_all()}


async def _to_the_end(call: Callable[..., dict[str, Any]], *args: Any) -> dict[str, Any]:
    """Run ``call`` in a worker thread; who is cancelled meanwhile still waits until it is done.

    A thread cannot be stopped. Who left earlier would give its environment to the next request of the lease
    while the call still changes it.
    """
    work = asyncio.ensure_future(run_sync(call, *args))
    stopped = False
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            stopped = True
    if stopped:
        work.exception()  # nobody is left to hear of it
        raise asyncio.CancelledError
    return work.result()


_ACTIONS: Final[Mapping[str, Callable[[ShopService, Mapping[str, Any]], Awaitable[dict[str, Any]]]]] = {
    "reset": _reset,
    "interact": _interact,
    "terminate": _terminate,
    "release_one": _release_one,
    "release_all": _release_all,
}
