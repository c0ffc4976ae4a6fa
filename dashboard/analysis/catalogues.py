"""Why runs cannot be judged with the prepared catalogue, told as it is: another one, or none named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

__all__ = ["not_prepared"]

_SHOWN = 4


def not_prepared(
    run_ids: Sequence[str],
    recorded: Mapping[str, object],
    prepared: str | None,
    name: Callable[[str], str] = str,
) -> str:
    """Why each of ``run_ids`` was not looked up in the prepared catalogue, without a full stop.

    ``recorded`` is the column ``product_data_sha256`` of ``runs`` (None or NaN: neither manifest nor records
    name it), ``prepared`` the SHA-256 of the catalogue at hand, None without one.
    """
    if prepared is None:
        return f"{_names(run_ids, name)}: no catalogue is prepared here (run shopsim prepare)"
    unnamed = [run for run in run_ids if not isinstance(recorded.get(run), str)]
    other = [run for run in run_ids if run not in unnamed and recorded.get(run) != prepared]
    same = [run for run in run_ids if recorded.get(run) == prepared]
    parts = [
        (other, "recorded on another catalogue than the prepared one"),
        (unnamed, "neither manifest nor records name the catalogue"),
        (same, "the prepared catalogue is theirs, but it cannot be opened"),
    ]
    return "; ".join(f"{_names(runs, name)}: {why}" for runs, why in parts if runs)


def _names(run_ids: Sequence[str], name: Callable[[str], str]) -> str:
    return ", ".join(map(name, run_ids[:_SHOWN])) + (" …" if len(run_ids) > _SHOWN else "")
