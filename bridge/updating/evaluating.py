"""What an update comes to at a state of the base.

Rules
-----
* The operations run in their order, and each sees what those before it came to (`bridge.sparql.update.running`).
* What it came to is good for that state alone: a head, and a clock since which nothing has begun or ended.

Example
-------
::

    place = Place(view, head.position, head.clock, head.clock, host.now())
    Evaluated(effect_of(update, place, solver), head.position, head.clock)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bridge.sparql.update.running import Runner, Scene
from bridge.sparql.update.solving import moved
from bridge.updating.requiring import is_due
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from bridge.sparql.update.solving import Solver
    from bridge.updating.request import Update
    from kernel.ports.ledger import LedgerView
    from kernel.time.instants import Instant
    from kernel.writing.group import Group
    from kernel.writing.net_effect import NetEffect


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an update came to at a state: the head's position, and the clock."""

    effect: NetEffect
    head: int | None
    clock: Instant

    def require_at(self, group: Group, at: Instant) -> None:
        """Raises `StateMoved` unless a group, with what is issued in it at an instant, still stands there."""
        if group.head.position != self.head or is_due(group.tx, self.clock, at):
            raise moved()

    @property
    def writes_shapes(self) -> bool:
        """Whether something of the graph of shapes has come of it."""
        return any(statement.graph == SHAPES_GRAPH for statement in self.effect.touched())


class Place(NamedTuple):
    """Where an update runs: the first members of `Scene`, in their order."""

    view: LedgerView
    head: int | None
    stores: Instant
    clock: Instant
    now: Instant


def effect_of(update: Update, place: Place, solver: Solver | None = None) -> NetEffect:
    """What the operations come to."""
    runner = Runner(Scene(*place, update.terms.principal, update.strict, update.using), solver)
    for operation in update.operations:
        runner.run(operation)
    return runner.effect
