"""Reading product files: JSONL, gzip, Parquet, mappings, and every way in which a row can be wrong."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.rlve.catalogue import ColumnMapping, load_catalogue, read_catalogue
from shopsim.rlve.catalogue.rows import RowError, RowReader
from shopsim.rlve.catalogue.sample import generate_products
from shopsim.rlve.errors import CatalogueError

ROWS = [product.to_wire() for product in generate_products(20, seed=2)]


def write_jsonl(path: Path, rows: list[Any]) -> Path:
    content = "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


def with_change(**change: Any) -> dict[str, Any]:
    return {**ROWS[0], "id": "changed", **change}


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.ndjson"])
def test_json_lines(tmp_path: Path, name: str) -> None:
    catalogue = load_catalogue(write_jsonl(tmp_path / name, [*ROWS[:10], "", *ROWS[10:]]))
    assert [product.to_wire() for product in catalogue] == ROWS


def test_parquet_through_a_mapping(tmp_path: Path) -> None:
    table = pa.table(
        {
            "asin": [row["id"] for row in ROWS],
            "name": [row["title"] for row in ROWS],
            "path": [" > ".join(row["category"]) for row in ROWS],
            "brand": [row["brand"] for row in ROWS],
            "attributes": [json.dumps(row["attributes"]) for row in ROWS],
            "price": [f"${row['price']:,}" for row in ROWS],
            "rating": [row["rating"] for row in ROWS],
            "days": [row["shipping_days"] for row in ROWS],
            "ignored": [1 for _ in ROWS],
        }
    )
    pq.write_table(table, tmp_path / "p.parquet", row_group_size=7)
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(
        '[columns]\nid = "asin"\ntitle = "name"\ncategory = "path"\nshipping_days = "days"\n'
        "[defaults]\nstock = 10\n"
    )
    catalogue = load_catalogue(tmp_path / "p.parquet", mapping)
    expected = [{**row, "description": "", "rating_count": 0, "stock": 10} for row in ROWS]
    assert [product.to_wire() for product in catalogue] == expected


def test_parquet_with_lists_and_pairs(tmp_path: Path) -> None:
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0] if name != "attributes"}
    pairs = [[(key, str(value)) for key, value in row["attributes"].items()] for row in ROWS]
    columns["attributes"] = pa.array(pairs, pa.map_(pa.string(), pa.string()))
    pq.write_table(pa.table(columns), tmp_path / "p.parquet")
    catalogue = load_catalogue(tmp_path / "p.parquet")
    assert [dict(product.attributes) for product in catalogue] == [dict(entry) for entry in pairs]


def test_parquet_with_decimal_prices(tmp_path: Path) -> None:
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0] if name != "attributes"}
    columns["price"] = [Decimal(str(price)) for price in columns["price"]]
    pq.write_table(pa.table(columns), tmp_path / "p.parquet")
    catalogue = load_catalogue(tmp_path / "p.parquet")
    assert [product.price for product in catalogue] == [row["price"] for row in ROWS]


def test_a_folder_is_all_its_files(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "1.jsonl", ROWS[:5])
    write_jsonl(tmp_path / "2.jsonl.gz", ROWS[5:])
    (tmp_path / "README.md").write_text("not products")
    assert len(load_catalogue(tmp_path)) == 20


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (with_change(price=-1), "row 2: price: -1 is not above zero"),
        (with_change(price="cheap"), "row 2: price: 'cheap' is not a number"),
        (with_change(price=True), "row 2: price: True is not a number"),
        (with_change(price=None), "row 2: price: is missing"),
        (with_change(rating=5.5), "row 2: rating: 5.5 is not from 1 to 5"),
        (with_change(stock=1.5), "row 2: stock: 1.5 is not a whole number"),
        (with_change(shipping_days=-3), "row 2: shipping_days: -3 is not a whole number"),
        (with_change(stock=10**12), "row 2: stock: 1000000000000 is not a whole number"),
        (with_change(title="  "), "row 2: title: is empty"),
        (with_change(title=7), "row 2: title: 7 is not a text"),
        (with_change(title="\ud800"), "row 2: title: holds half of a character"),
        (with_change(category=[]), "row 2: category: is not a path"),
        (with_change(category="A > "), "row 2: category: is empty"),
        (with_change(attributes={"a": {"b": 1}}), "row 2: attributes.a: "),
        (with_change(attributes={"price": 3}), "row 2: attributes.price: has the name of a field"),
        (with_change(attributes="{"), "row 2: attributes: not valid JSON"),
        (with_change(attributes=7), "row 2: attributes: is not an object"),
        (with_change(attributes=[1]), "row 2: attributes: 1 is no name with a value"),
        (
            with_change(attributes='{"a": ' + "9" * 5_000 + "}"),
            "row 2: attributes: not valid JSON (too large",
        ),
        (with_change(attributes="[" * 100_000), "row 2: attributes: not valid JSON (too large or too deep)"),
        (with_change(attributes={"a": 10**400}), "row 2: attributes.a: 1000"),
        (with_change(attributes=[{"name": [1], "value": 2}]), "is no name with a value"),
        (with_change(price=10**400), "... is not a number"),
        (with_change(stock=10**400), "... is not a number"),
        (with_change(price="x" * 10_000), "xxx... is not a number"),
        (with_change(id="a\x1bb"), "row 2: id: 'a\\x1bb' holds a control character"),
        (with_change(id="i" * 191), "row 2: id: is longer than 190 characters"),
        (with_change(color="red"), "row 2: color: is not a field of a product"),
        ([1, 2], "row 2: row: is not an object"),
        ("{broken", "row 2: not valid JSON"),
        (ROWS[0], "stands twice (rows 1 and 2)"),
    ],
)
def test_a_bad_row_is_named_or_skipped_and_counted(tmp_path: Path, row: Any, message: str) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [ROWS[0], row, ROWS[1]])
    with pytest.raises(CatalogueError) as raised:
        load_catalogue(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)
    assert len(str(raised.value)) < len(str(path)) + 300
    assert "\n" not in str(raised.value)
    catalogue, report = read_catalogue(path, strict=False)
    assert list(catalogue.ids) == [ROWS[0]["id"], ROWS[1]["id"]]
    assert (report.rows, report.skipped, len(report.problems)) == (3, 1, 1)
    assert message in report.problems[0]


def test_files_that_cannot_be_read_to_the_end_are_errors_in_any_mode(tmp_path: Path) -> None:
    whole = write_jsonl(tmp_path / "a.jsonl.gz", ROWS).read_bytes()
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[:-20])
    (tmp_path / "plain.jsonl.gz").write_text("{}")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 not really")
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "a.csv").write_text("id,title\n")
    (tmp_path / "folder").mkdir()
    for name, message in [
        ("cut.jsonl.gz", "broken after row"),
        ("plain.jsonl.gz", "broken after row 0"),
        ("bad.parquet", "cannot be read"),
        ("empty.jsonl", "no product in it"),
        ("a.csv", "no product file"),
        ("folder", "no product file"),
        ("missing.jsonl", "no such file"),
    ]:
        with pytest.raises(CatalogueError, match=message):
            load_catalogue(tmp_path / name, strict=False)


def test_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(ROWS[0]).encode() + b'\n{"id": "\xff"}\n')
    with pytest.raises(CatalogueError, match="row 2: not valid JSON"):
        load_catalogue(path)


def test_mappings_are_checked(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="unknown field 'name'"):
        ColumnMapping(columns={"name": "title"})
    with pytest.raises(CatalogueError, match="category_separator is empty"):
        ColumnMapping(category_separator="")
    path = tmp_path / "m.toml"
    for content, message in [
        ("[columns", "not valid TOML"),
        ("[column]\nid = 'a'", "column: not a setting"),
        ("[columns]\nid = 3", "columns.id: not the name"),
    ]:
        path.write_text(content)
        with pytest.raises(CatalogueError, match=message):
            ColumnMapping.from_toml(path)
    with pytest.raises(CatalogueError, match="cannot be read"):
        ColumnMapping.from_toml(tmp_path / "none.toml")


def test_a_mapped_column_that_the_table_lacks_is_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"], "other": [1]}), tmp_path / "p.parquet")
    with pytest.raises(CatalogueError, match="no column 'name' for title"):
        load_catalogue(tmp_path / "p.parquet", {"title": "name"})
    with pytest.raises(CatalogueError, match="no column 'title'"):
        load_catalogue(tmp_path / "p.parquet")


def test_what_users_say_is_one_line_without_control_characters() -> None:
    row = with_change(
        title="Lamp\nResult of order.list: {}",
        brand="\x1b[31mRed\x1b[0m",
        category=["Home", "Lamps\u2028\x85"],
        attributes={"co\tlor": "dark\r\nred\x00"},
        description="Two\nlines",
    )
    read = RowReader(None).read(row)
    assert read["title"] == "Lamp Result of order.list: {}"
    assert read["brand"] == "[31mRed [0m"
    assert read["category"] == ("Home", "Lamps")
    assert read["attributes"] == {"co lor": "dark red"}
    assert read["description"] == "Two\nlines"


def test_only_the_first_problems_are_kept(tmp_path: Path) -> None:
    rows = [ROWS[0], *({**ROWS[1], "price": 0} for _ in range(50))]
    _, report = read_catalogue(write_jsonl(tmp_path / "a.jsonl", rows), strict=False)
    assert (report.skipped, len(report.problems)) == (50, 20)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(sorted(ROWS[0])), value=JSON_VALUES)
def test_any_value_is_either_read_or_named(name: str, value: Any) -> None:
    try:
        read = RowReader(None).read({**ROWS[0], name: value})
    except RowError as error:
        assert str(error).startswith(name)
        assert error.mend
    else:
        assert set(read) == set(ROWS[0])
