"""Tools of the catalogue."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from shopsim.rlve.catalogue import Filters
from shopsim.rlve.tools.base import MAX_TOP_K, Arguments, Id, Query, Tool
from shopsim.rlve.tools.retrieval import retrieve
from shopsim.rlve.tools.views import product_card, variant_view
from shopsim.rlve.world import RefusedError, World

__all__ = ["CATALOG_TOOLS"]

_TopK = Annotated[int, Field(ge=1, le=MAX_TOP_K)]
_Text = Annotated[str, Field(min_length=1, max_length=200)]


def _one_complaint(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """The check of a union, whose own error would speak of its first type alone."""
    try:
        return check(value)
    except ValidationError:
        raise PydanticCustomError(
            "attribute_value",
            "Input should be a text of at most 200 characters, a finite number or a boolean",
        ) from None


_AttributeValue = Annotated[
    bool | int | float | Annotated[str, Field(max_length=200)], WrapValidator(_one_complaint)
]


class SearchFilters(Arguments):
    category: _Text | None = Field(default=None, description="A department or any category below it.")
    brand: _Text | None = None
    price_min: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Dollars.")
    price_max: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Dollars.")
    rating_min: Annotated[float, Field(ge=0, le=5)] | None = None
    shipping_days_max: Annotated[int, Field(ge=0)] | None = None
    in_stock: bool | None = None
    attributes: Annotated[dict[_Text, _AttributeValue], Field(max_length=20)] = Field(
        default_factory=dict, description='Values that must be equal, such as {"color": "black"}.'
    )


class _SearchArguments(Arguments):
    query: Query
    filters: SearchFilters | None = None
    top_k: _TopK = 10


class _RerankArguments(Arguments):
    query: Query
    candidate_product_ids: Annotated[list[Id], Field(min_length=1, max_length=MAX_TOP_K)]
    top_k: _TopK = 10


class _ProductArguments(Arguments):
    product_id: Id


def _search(world: World, arguments: _SearchArguments, turn: int) -> dict[str, Any]:
    top_k = min(arguments.top_k, world.difficulty.top_k)
    given = arguments.filters or SearchFilters()
    filters = Filters(**given.model_dump(exclude={"in_stock"}))
    products = retrieve(world, arguments.query, filters, in_stock=given.in_stock, top_k=top_k)
    return {"results": [product_card(world, product) for product in products], "top_k": top_k}


def _rerank(world: World, arguments: _RerankArguments, turn: int) -> dict[str, Any]:
    ids = list(dict.fromkeys(arguments.candidate_product_ids))
    if unknown := [product_id for product_id in ids if world.catalogue.get(product_id) is None]:
        raise RefusedError(f"no product {', '.join(unknown[:5])}")
    hits = world.search.rerank(arguments.query, ids, arguments.top_k)
    return {"results": [product_card(world, world.product(hit.id)) for hit in hits]}


def _get_product(world: World, arguments: _ProductArguments, turn: int) -> dict[str, Any]:
    product = world.product(arguments.product_id)
    return {
        **product_card(world, product),
        "description": product.description,
        "attributes": dict(product.attributes),
        "rating_count": product.rating_count,
        "variants": len(world.variants_of(product.id)),
    }


def _get_variants(world: World, arguments: _ProductArguments, turn: int) -> dict[str, Any]:
    product = world.product(arguments.product_id)
    world.show([product.id])
    return {
        "product_id": product.id,
        "title": product.title,
        "variants": [variant_view(variant) for variant in world.variants_of(product.id)],
    }


CATALOG_TOOLS: Final = (
    Tool(
        "catalog.search",
        "Search the catalogue by words; filters must all hold. Results come best first.",
        _SearchArguments,
        _search,
    ),
    Tool(
        "catalog.rerank",
        "Sort known products by how well they match a query.",
        _RerankArguments,
        _rerank,
    ),
    Tool(
        "catalog.get_product",
        "Show everything about a product.",
        _ProductArguments,
        _get_product,
    ),
    Tool(
        "catalog.get_variants",
        "List the variants of a product, such as its sizes or connectors.",
        _ProductArguments,
        _get_variants,
    ),
)
