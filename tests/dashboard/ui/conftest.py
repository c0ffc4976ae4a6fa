from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace, that of the process."""
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "shopsim.toml").write_text("", encoding="utf-8")
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    monkeypatch.delenv("SHOPSIM_ROOTS", raising=False)
    monkeypatch.delenv("SHOPSIM_LAKE", raising=False)
    return tmp_path
