r"""The evaluation of a query on a store, for a caller whose dataset has been settled.

Rules
-----
* Updates, SERVICE and LOAD are refused, on every path, before the engine sees the text.
* What runs is the text as `bridge.sparql.tokens` settles it, over the dataset given and nothing else: both lists of
  graphs are always passed, so that FROM in the text has no say.
* NOW() is the valid-at instant of the read where one is given; else it is the engine's clock.
* The answer is whole before its first byte goes out: a query that fails has no answer that looks complete.
* Nothing here stops a query that has started: callers' queries run in processes that can be ended, `bridge.replicas`.

Example
-------
>>> from bridge.sparql.results import negotiate
>>> from kernel.terms import Iri
>>> store, g = ox.Store(), ox.NamedNode("urn:g")
>>> store.add(ox.Quad(g, g, g, g))
>>> dataset = Dataset(complete=False, union=False, default_graphs=(Iri("urn:g"),), named_graphs=())
>>> text = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
>>> finish(evaluate(store, text, dataset), negotiate("text/csv", scan(text).form))
b'n\r\n1\r\n'
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.sparql.complaints import complaint, unevaluated
from bridge.sparql.dataset import Dataset
from bridge.sparql.results import Format, Results, serialise
from bridge.sparql.scan import Form, QueryShape, runnable, scan
from bridge.stores.errors import store_errors
from bridge.terms import node
from kernel.errors import QueryRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.terms import Iri
    from kernel.time.instants import Instant

_CACHED: Final = 256


def evaluate(store: ox.Store, text: str, dataset: Dataset, *, now: Instant | None = None) -> Results:
    """Starts a query. The results see the store as it is now, and are to be read by `finish`.

    Args:
        store: where to run it: one of data graphs alone where `dataset.union` says so.
        text: the query.
        dataset: what its caller may read.
        now: what NOW() stands for; None for the engine's clock.

    Raises:
        QueryRefused: a query that cannot be parsed, an update, a call of SERVICE.
        StoreUnavailable: the store cannot be read.
    """
    require_query(scan(text))
    with store_errors(), evaluation_errors(text):
        return start(store, runnable(text, now), dataset)


def finish(results: Results, form: Format, *, restore: bool = False) -> bytes:
    """Reads the results to their end, into the format of the answer.

    Raises:
        QueryRefused: the query cannot be evaluated, or the format is not one for its form.
        NotAcceptable: the format cannot carry something in the answer.
        StoreUnavailable: the store cannot be read.
    """
    with store_errors(), evaluation_errors():
        return serialise(results, form, restore=restore)


def require_query(shape: QueryShape) -> None:
    """Raises `QueryRefused` for an update, for what is no query, and for SERVICE and LOAD."""
    if shape.service:
        raise QueryRefused(
            "SERVICE is not served here: a query is answered from this base alone",
            remedy="ask the other endpoint yourself; or, if this is a prefix called service, give it another name",
        )
    if shape.form is Form.UPDATE:
        raise QueryRefused(
            "LOAD is not served here" if shape.load else "this is an update, not a query",
            remedy="send what you have as a document"
            if shape.load
            else "post it, as application/sparql-update or in a form",
        )
    if shape.form is Form.UNKNOWN:
        raise QueryRefused(
            "this is not a query", remedy="begin with SELECT, ASK, CONSTRUCT or DESCRIBE, after any PREFIX and BASE"
        )


def start(store: ox.Store, text: str, dataset: Dataset, base: str | None = None) -> Results:
    """Starts a query whose text is settled (`bridge.sparql.scan.runnable`). Raises what the engine raises."""
    named = _nodes(dataset.named_graphs)
    if dataset.union:
        return store.query(text, base_iri=base, use_default_graph_as_union=True, named_graphs=[*named])
    default = _nodes(dataset.default_graphs)
    return store.query(text, base_iri=base, default_graph=[*default], named_graphs=[*named])


@contextmanager
def evaluation_errors(text: str = "") -> Iterator[None]:
    """Turns what the engine raises, while a query is parsed or its results are read, into `QueryRefused`."""
    try:
        yield
    except SyntaxError as error:
        raise complaint(text, error) from error
    except (RuntimeError, ValueError) as error:
        raise unevaluated(str(error)) from error


@lru_cache(maxsize=_CACHED)
def _nodes(graphs: tuple[Iri, ...]) -> tuple[ox.NamedNode, ...]:
    return tuple(map(node, graphs))
