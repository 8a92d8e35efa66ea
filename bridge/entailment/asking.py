"""What is asked of the process that has the closures, and how it is answered there.

Rules
-----
* Each frame names the store of a closure and what to do with it: `make` it, `follow` what its store loses and gains,
  tell all that is `shown`, or the `proof` of a statement; `foresee` what a plan would do; or say which of some pairs of
  statements are premises of one inconsistency (`clashing`).
* Where two texts go one way, they lie one after the other, and the head says how long the first is.

Example
-------
>>> joined("one", "two")
(3, b'onetwo')
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import orjson

from kernel.entailment.table import Regime

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyoxigraph as ox

    from bridge.entailment.closures import Closures
    from kernel.entailment.index import Triple


Placed: TypeAlias = "tuple[str, str, str, str | None]"
"""A triple, and the graph that it stands in, as an IRI in N-Triples form; None: it follows."""


class Arisen(TypedDict):
    """An inconsistency that was not there.

    `rule` is by which it is one, from which `premises`; `statement` and `against` are two of them, each with the graph
    that it stands in, None where it follows. `owing` are the statements of the plan without any one of which it would
    not be there, as N-Quads.
    """

    rule: str
    premises: list[Triple]
    statement: Placed
    against: Placed
    owing: list[str]


class Foreseen(TypedDict):
    """What a plan leads to: how many statements follow since and no more, and inconsistencies, with the first of each.

    `schema` says whether the plan speaks of the vocabulary.
    """

    follows: int
    ceases: int
    gained: list[Triple]
    lost: list[Triple]
    inconsistencies: int
    arisen: list[Arisen]
    schema: bool


def done(
    closures: Closures, asked: Mapping[str, Any], body: bytes, stores: Mapping[str, ox.Store]
) -> tuple[dict[str, object], bytes]:
    """Does what is asked; the head and the body of the answer. Raises `TooMuchFollowsError`.

    Args:
        closures: those of the process.
        asked: the head of the frame.
        body: of it.
        stores: those of the process.
    """
    name = asked["store"]
    match asked["what"]:
        case "make":
            closures.make(name, stores[name], Regime(asked["regime"]), asked["graphs"], asked["beside"], body)
            return {}, closures.shown(name).encode()
        case "follow":
            first, found = joined(*closures.follow(name, body[: asked["first"]], body[asked["first"] :]))
            return {"first": first}, found
        case "shown":
            return {}, closures.shown(name).encode()
        case "foresee":
            ends = [*accumulate(asked["lengths"])]
            parts = [body[start:end] for start, end in zip([0, *ends], ends, strict=False)]
            return {}, orjson.dumps(closures.foresee(name, (parts[0], parts[1]), (parts[2], parts[3]), asked["most"]))
        case "clashing":
            return {}, orjson.dumps(closures.clashing(name, orjson.loads(body)))
        case "proof":
            return {}, orjson.dumps(closures.proof(name, body, asked["most"]))
        case _:
            raise ValueError(f"nobody asks for {asked['what']}")


def joined(one: str, other: str) -> tuple[int, bytes]:
    """Two texts, one after the other, and where the second begins."""
    first = one.encode()
    return len(first), first + other.encode()
