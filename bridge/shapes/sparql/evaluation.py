"""Asking a query of what holds, with variables bound beforehand.

Rules
-----
* A query could take all memory, and all time, so another process answers it (`bridge.replicas.direct`), with at most
  `LIMITS` for all that it is asked at one focus, and `MOST` solutions there. One that needs more is ended;
  `QueryUnfinished` says that there is no answer.
* In the turn of a write it has less, so that nobody waits long for what somebody else wrote into a shape (`patience`).
* One that was ended `IN_A_ROW` times, and gave no answer anywhere in between, is not asked for `REST` seconds.
* It is asked of what it looks at (`looks`), which is sent along: so its cost goes by the surroundings of the focus, not
  by the data. Data of which it may look at anything is sent once for all foci.

Example
-------
::

    asking = Asking(constraint, shapes_graph)
    asking.answers(data, focus, [{"value": value} for value in values])
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final
from weakref import ref

from bridge.replicas.direct import WORKERS, Asked
from bridge.replicas.limits import Limits
from bridge.replicas.process import FailedFrameError, WorkerEndedError
from bridge.shapes.sparql.lines import line, read_answer, seen, written
from bridge.shapes.sparql.patience import BRIEF, LEAST, Credit
from bridge.shapes.sparql.text import HAS_VALUE, SHAPES, THIS, VALUES_GRAPH, value_node
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bridge.shapes.data import Data
    from bridge.shapes.document import ShapesDocument, Triple
    from bridge.shapes.sparql.declared import Constraint
    from bridge.shapes.sparql.lines import Answer
    from bridge.shapes.sparql.patience import Patience
    from kernel.terms import Term

LIMITS: Final = Limits(seconds=5, memory=256 * 2**20, result=16 * 2**20)
"""What a query may take at one focus."""

MOST: Final = 10_000
"""Solutions that it may give there."""

IN_A_ROW: Final = 8
"""How often a query is ended, at whatever nodes, before it rests."""

REST: Final = 60.0
"""Seconds for which it is not asked then."""

_PIECE: Final = 10_000
"""Statements that are sent at once where all are."""

_STANDING: Final = "<urn:x-muniment:standing>"
_TOO_MUCH: Final = f"it takes more than it may have: {LIMITS.seconds:g} seconds, {LIMITS.memory >> 20} MB of memory"

"""Of which it was too much is not said: so a certificate that waits is told the same when it is approved."""
_SHOWN: Final = 200


class QueryUnfinished(Exception):
    """A query gave no answer within its limits; the text says which."""


class Asking:
    """Asks the query of one constraint.

    Args:
        constraint: what is asked.
        document: the shapes graph that it is of.
    """

    def __init__(self, constraint: Constraint, document: ShapesDocument) -> None:
        self._query = constraint.query
        self._looks = constraint.looks
        self._bound = constraint.bound
        self._document = document
        self._shapes = document if SHAPES in constraint.query.variables else ()
        self._credit = Credit(monotonic())
        self._ended, self._rests_until = 0, -inf

    def answers(self, data: Data, focus: Term, several: Sequence[Mapping[str, Term]]) -> list[Answer]:
        """What the query answers at a focus, for each binding of further variables.

        Raises:
            QueryUnfinished: it takes too long or too much memory, or gives too much.
        """
        if monotonic() < self._rests_until:
            raise QueryUnfinished(_TOO_MUCH)
        asked = Asked(self._query.text, [self._beside(focus, each) for each in several], self._limits(data.patience))
        before = monotonic()
        try:
            found = [read_answer(each, MOST) for each in self._asked(data, focus, asked)]
        except FailedFrameError as error:
            self._spend(data.patience, monotonic() - before)
            raise _failed(error) from None
        except (TimeoutError, WorkerEndedError, OSError) as error:
            self._spend(data.patience, monotonic() - before)
            self._rest_now_and_then()
            raise QueryUnfinished(_lost(error)) from None
        self._ended = 0
        answers = [each for each in found if each is not None]
        if len(answers) < len(found):
            raise QueryUnfinished(f"it gives more than {MOST:,} solutions")
        return answers

    def _asked(self, data: Data, focus: Term, asked: Asked) -> list[bytes]:
        if not self._looks.anywhere:
            with WORKERS.one() as worker:
                found = worker.answers(asked, self._sent(data, focus).encode())
        else:
            whole = ref(data)
            with WORKERS.one(whole) as worker:
                if worker.keeps is not whole:
                    worker.keep(whole, self._pieces(data), asked.limits)
                found = worker.answers(asked, None)
        self._spend(data.patience, worker.took)
        return found

    def _limits(self, patience: Patience) -> Limits:
        """What it may take at a focus. Raises `QueryUnfinished` when there is no patience left."""
        if patience.is_endless:
            return LIMITS
        if patience.left <= 0:
            raise QueryUnfinished(f"the queries about this change have taken {patience.seconds:g} seconds by now")
        allowed = max(LEAST, min(LIMITS.seconds, self._credit.left(monotonic())))
        return replace(LIMITS, seconds=min(allowed, patience.left + BRIEF))

    def _spend(self, patience: Patience, seconds: float) -> None:
        if not patience.is_endless:
            patience.spend(seconds)
            self._credit.spend(seconds)

    def _rest_now_and_then(self) -> None:
        self._ended += 1
        if self._ended >= IN_A_ROW:
            self._rests_until = monotonic() + REST

    def _sent(self, data: Data, focus: Term) -> str:
        """What it is asked of at a focus."""
        return self._lines(seen(data, self._looks.along, focus))

    def _lines(self, triples: Iterable[Triple]) -> str:
        """These statements, and those of the shapes graph if it looks at that."""
        return "".join(chain(map(line, triples), map(_line_of_shapes, self._shapes)))

    def _pieces(self, data: Data) -> Iterator[bytes]:
        """All that it may be asked of, and all that other queries of the shapes graph may be."""
        lines = chain((line(triple) for triple, _ in data.items()), map(_line_of_shapes, self._document))
        while piece := "".join(islice(lines, _PIECE)):
            yield piece.encode()

    def _beside(self, focus: Term, bound: Mapping[str, Term]) -> str:
        """What is there for one answer: the values of variables, and the nodes that a path of no steps leads to."""
        terms = {name: written(term) for name, term in {**self._bound, **bound, THIS: focus}.items()}
        found = [
            f"<{value_node(name)}> <{HAS_VALUE}> {terms[name]} <{VALUES_GRAPH}> .\n"
            for name in self._query.variables
            if name in terms
        ]
        if self._looks.standing is not None:
            standing = [*terms.values(), *map(written, self._looks.standing)]
            found += [f"{_STANDING} {_STANDING} {each} .\n" for each in dict.fromkeys(standing)]
        return "".join(found)


def _line_of_shapes(triple: Triple) -> str:
    return line(triple, SHAPES_GRAPH.n3)


def _failed(error: FailedFrameError) -> QueryUnfinished:
    match error.head["what"]:
        case "size":
            return QueryUnfinished(f"its solutions come to more than {LIMITS.result >> 20} MB")
        case "memory":
            return QueryUnfinished(_TOO_MUCH)
        case _:
            return QueryUnfinished(f"it cannot be evaluated: {error.head['message'][:_SHOWN]}")


def _lost(error: Exception) -> str:
    if isinstance(error, TimeoutError) or (isinstance(error, WorkerEndedError) and error.out_of_memory):
        return _TOO_MUCH
    return f"it was lost: {error}"
