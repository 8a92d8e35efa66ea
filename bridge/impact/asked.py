"""What registered queries are asked about, and what they are answered: upon which state, or why not at all.

Rules
-----
* A plan is asked about upon what is accepted by now; or, aside from its turn, upon what is committed. What an answer
  was found upon goes with it, so that somebody can tell whether it still is one (`bridge.impact.foreseeing`).
* What has no answer says why, in the same words whenever it is for the same reason.

Example
-------
::

    planned = Planned(view, certificate, at, None, changes_at(plan.record, plan.supersede, at), graphs, graphs)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.replicas.comparing import Compared
from kernel.time.instants import Instant
from kernel.vocabulary import is_data

if TYPE_CHECKING:
    from kernel.impact import Changes
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Iri


@dataclass(frozen=True, slots=True)
class Unanswered:
    """There is no answer, and this is why; in the same words whenever it is for the same reason."""

    why: str


Told = Compared | Unanswered


@dataclass(frozen=True, slots=True)
class Planned:
    """What queries are asked about.

    Args:
        view: the ledger with what is accepted by now, without the plan; None: with what is committed once it is asked.
        certificate: that of the plan, or the name that its answers are remembered under.
        at: the instant of valid time that is now.
        moment: the one that is asked for; None: now.
        changes: what the plan changes at that.
        before: the graphs that are known without it.
        after: those that are known with it.
    """

    view: LedgerView | None
    certificate: str
    at: Instant
    moment: Instant | None
    changes: Changes
    before: frozenset[Iri]
    after: frozenset[Iri]


@dataclass(frozen=True, slots=True)
class Basis:
    """What an answer was given upon.

    Args:
        instant: the transaction instant of the last thing that was known.
        at: the instant of valid time.
        before: the graphs that were known without the plan.
        after: those that were known with it.
        purged_at: the head of the last purge by then.
    """

    instant: Instant | None
    at: Instant
    before: frozenset[Iri]
    after: frozenset[Iri]
    purged_at: int | None


Answered = tuple[Told, Basis | None]


def upon_committed(planned: Planned, view: LedgerView) -> Planned:
    """The same upon what is committed, at its clock or later."""
    known = frozenset(filter(is_data, view.graphs()))
    at = Instant(max(planned.at, view.head().clock))
    return replace(planned, at=at, before=known, after=known | planned.after)
