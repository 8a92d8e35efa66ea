"""Which queries may be registered: those whose answer the data alone decides, and that can be asked at all.

Rules
-----
* An answer that changes by itself, or by chance, tells nothing of a change of data. So refused are NOW, RAND, UUID,
  STRUUID, BNODE and SERVICE; SAMPLE, and LIMIT and OFFSET without ORDER BY; blank nodes in what is constructed.
* What SPARQL leaves open all the same, as which of two rows of one rank comes first under LIMIT, is left open here.
* It is asked of data: history graphs and the reserved graphs are refused.
* A relative IRI without a BASE would mean something else to each who asks.
* Whether the engine understands it is tried on nothing, within limits, in another process; what does not end there has
  no place among what is asked at each change.

Example
-------
>>> require_admissible("SELECT (NOW() AS ?t) {}")
Traceback (most recent call last):
kernel.errors.InvalidQuery: query: NOW gives another value each time (leave it out, or name the moment)
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from bridge.replicas.comparing import Compared, Comparison
from bridge.replicas.direct import WORKERS
from bridge.replicas.limits import Limits
from bridge.replicas.process import FailedFrameError, WorkerEndedError
from bridge.sparql.complaints import complaint, unevaluated
from bridge.sparql.dataset import Dataset
from bridge.sparql.query import require_query
from bridge.sparql.scan import Form, runnable, scan
from bridge.sparql.tokens import END, tokenise
from kernel.errors import InvalidQuery, QueryRefused, StoreUnavailable
from kernel.queries import LONGEST_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bridge.sparql.tokens import Token

LIMITS: Final = Limits(seconds=5, memory=256 * 2**20, result=2**20)
_VOLATILE: Final = {
    "NOW": "leave it out, or name the moment",
    **dict.fromkeys(("RAND", "UUID", "STRUUID", "BNODE"), "leave it out"),
}
_NOTHING: Final = Dataset(complete=False, union=True, default_graphs=(), named_graphs=())
_WHERE: Final = "query"
_CACHED: Final = 4_096


def require_admissible(text: str) -> None:
    """Raises `InvalidQuery` for a query that may not be registered, `StoreUnavailable` where that cannot be told."""
    if len(text) > LONGEST_TEXT:
        raise InvalidQuery(f"it has {len(text):,} characters", remedy=f"give at most {LONGEST_TEXT:,}", where=_WHERE)
    fault = _fault(text)
    if fault is not None:
        message, remedy = fault
        raise InvalidQuery(message, remedy=remedy, where=_WHERE)


@lru_cache(maxsize=_CACHED)
def _fault(text: str) -> tuple[str, str] | None:
    """What is wrong with it, and what to do."""
    try:
        _require(text)
        _try(text)
    except QueryRefused as error:
        place = "" if error.where is None else f"{error.where}: "
        return f"{place}{error.message}", error.remedy
    return None


def _require(text: str) -> None:
    shape, tokens = scan(text), tokenise(text)
    for token, after in pairwise([*tokens, END]):
        if token.kind == "word" and token.keyword in _VOLATILE and after.text == "(":
            raise QueryRefused(f"{token.keyword} gives another value each time", remedy=_VOLATILE[token.keyword])
        if token.kind == "word" and token.keyword == "SAMPLE" and after.text == "(":
            raise QueryRefused("SAMPLE leaves it to chance what is found", remedy="use MIN or MAX")
    require_query(shape)
    if shape.volatile:
        raise QueryRefused("it gives another answer each time", remedy="leave out NOW, RAND, UUID, STRUUID and BNODE")
    if shape.mentions_history or shape.mentions_governance:
        raise QueryRefused(
            "it names a history graph or a reserved one", remedy="ask of data: these change with every certificate"
        )
    if shape.relative:
        raise QueryRefused("an IRI is relative, and there is no BASE", remedy="write IRIs in full, or give a BASE")
    if _cuts_by_chance(tokens):
        raise QueryRefused(
            "LIMIT and OFFSET without ORDER BY leave it to chance what is found", remedy="order by something, too"
        )
    if shape.form is Form.CONSTRUCT and any(each.kind == "blank" or each.text in {"[", "("} for each in _first(tokens)):
        raise QueryRefused(
            "blank nodes are new ones each time they are constructed", remedy="write variables and IRIs instead"
        )


def _cuts_by_chance(tokens: Sequence[Token]) -> bool:
    """Whether a LIMIT or OFFSET has no ORDER BY before it, in the query that it ends."""
    ordered = [False]
    for token in tokens:
        match token.text if token.kind == "mark" else token.keyword if token.kind == "word" else "":
            case "{":
                ordered.append(False)
            case "}" if len(ordered) > 1:
                ordered.pop()
            case "ORDER":
                ordered[-1] = True
            case "LIMIT" | "OFFSET" if not ordered[-1]:
                return True
            case _:
                pass
    return False


def _first(tokens: Sequence[Token]) -> Iterator[Token]:
    """What stands in the first braces: the template of a CONSTRUCT."""
    depth = 0
    for token in tokens:
        depth += (token.text == "{") - (token.text == "}")
        if depth:
            yield token
        elif token.text == "}":
            return


def _try(text: str) -> None:
    """Asks it of nothing. Raises `QueryRefused`."""
    asked = Comparison(runnable(text), _NOTHING, _NOTHING)
    try:
        with WORKERS.one() as worker:
            (answered,) = worker.compare(None, ("", ""), ("", ""), [asked], LIMITS)
    except TimeoutError as error:
        raise _endless() from error
    except WorkerEndedError as error:
        if error.out_of_memory:
            raise _endless() from error
        raise StoreUnavailable(f"a query could not be tried: {error}", remedy="try again shortly") from error
    except (FailedFrameError, OSError) as error:
        raise StoreUnavailable(f"a query could not be tried: {error}", remedy="try again shortly") from error
    if isinstance(answered, Compared):
        return
    if answered.what == "syntax":
        raise complaint(text, SyntaxError(answered.message))
    if answered.what in {"memory", "size"}:
        raise _endless()
    raise unevaluated(answered.message)


def _endless() -> QueryRefused:
    return QueryRefused("it does not come to its end on no data at all", remedy="ask for less")
