"""A real small file system for tests of the full disk: a tmpfs that can be filled to the last byte."""

from __future__ import annotations

import errno
import functools
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["files_up_to", "filled", "on_a_small_disk", "ways_to_mount"]

Body = Callable[[Path, Path], None]
_PROJECT = Path(__file__).resolve().parents[2]
_NAMESPACE = ("unshare", "--mount", "--user", "--map-root-user")


def on_a_small_disk(size: str) -> Callable[[Body], Callable[[Path], None]]:
    """Make a test of ``body(disk, elsewhere)``, where ``disk`` is an empty tmpfs of ``size`` (as ``"8m"``).

    Who may mount does so here. Others run the body in a process with a user and mount namespace of its own;
    where neither is allowed the test is skipped.
    """

    def decorate(body: Body) -> Callable[[Path], None]:
        @functools.wraps(body)
        def test(tmp_path: Path) -> None:
            ways = ways_to_mount()
            if not ways:
                pytest.skip(
                    "no small file system: neither `mount -t tmpfs` nor "
                    f"`{' '.join(_NAMESPACE)} mount -t tmpfs` is allowed here"
                )
            if ways[0]:
                _in_a_namespace(ways[0], body, tmp_path, size)
            else:
                _run(body, tmp_path, size)

        test.__dict__["body"] = body
        del test.__wrapped__  # pytest would ask for the body's arguments
        return test

    return decorate


@functools.cache
def ways_to_mount() -> tuple[tuple[str, ...], ...]:
    """What may stand before ``mount`` so that it works: nothing (as root), or a namespace of one's own."""
    return tuple(way for way in ((), _NAMESPACE) if _works(way))


@contextmanager
def filled(disk: Path, *, leave: int = 0) -> Iterator[None]:
    """The disk is full but for ``leave`` bytes; there is room again afterwards."""
    filler = disk / "filler"
    block, written = b"\0" * 65536, 0
    with filler.open("wb", buffering=0) as file:
        while True:
            try:
                written += file.write(block)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                if len(block) == 1:
                    break
                block = block[: len(block) // 2]
        file.truncate(written - leave)
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """A limit on file size, for places where nothing may be mounted: writing fails inside a file too."""
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)


def _run(body: Body, folder: Path, size: str) -> None:
    disk, elsewhere = folder / "disk", folder / "elsewhere"
    elsewhere.mkdir()
    with _mounted(disk, size):
        body(disk, elsewhere)


def _in_a_namespace(way: Sequence[str], body: Body, folder: Path, size: str) -> None:
    source, name = body.__code__.co_filename, body.__name__
    code = (
        "import pathlib, runpy\n"
        "from tests.factories import disks\n"
        f"test = runpy.run_path({source!r})[{name!r}]\n"
        f"disks._run(test.body, pathlib.Path({str(folder)!r}), {size!r})\n"
    )
    ended = subprocess.run(
        [*way, sys.executable, "-c", code], cwd=_PROJECT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


@contextmanager
def _mounted(disk: Path, size: str) -> Iterator[None]:
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _works(way: Sequence[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        script = f"mount -t tmpfs -o size=64k tmpfs '{folder}' && umount '{folder}'"
        try:
            ended = subprocess.run([*way, "sh", "-c", script], capture_output=True, check=False, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return ended.returncode == 0
