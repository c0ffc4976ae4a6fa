"""Numbers in sentences and tables."""

from __future__ import annotations

from shopsim import wording


def test_people_read_a_minus_sign_and_programs_a_hyphen() -> None:
    assert wording.minus("[-0.750, +0.500] points") == "[−0.750, +0.500] points"
    assert wording.minus("12,345.0%") == "12,345.0%"
    assert (wording.signed(-0.125), wording.signed(0.5), wording.signed(None)) == ("-0.125", "+0.500", "-")
    assert wording.percent(-0.25) == "-25.0%"


def test_one_of_a_kind_has_no_plural() -> None:
    assert [wording.plural(n, "entry", "entries") for n in (0, 1, 1234)] == [
        "0 entries",
        "1 entry",
        "1,234 entries",
    ]
