"""What judges a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from uuid import UUID

    from certificates.certificate import Digests
    from certificates.findings import Finding
    from kernel.facts import Fact, FactContent
    from kernel.ports.facts import FactsView
    from kernel.ports.ledger import LedgerView
    from kernel.time.instants import Instant
    from kernel.writing.plan import Plan
    from kernel.writing.preparing import Preparation


class Check(Protocol):
    """Something that judges a plan."""

    def findings(self, plan: Plan, view: FactsView) -> Sequence[Finding]:
        """What the check says of a plan that is not yet in the view; the same plan and view, the same findings."""
        ...


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load session did, as far as shapes may notice.

    Args:
        certificate: its own; its facts and evidence are known by it.
        issued_at: when that was issued.
        noticed: facts that it recorded, or brought evidence for.
        gone: facts that it superseded.
        partial: whether whoever asked may not read every graph of data.
    """

    certificate: UUID
    issued_at: Instant
    noticed: Sequence[FactContent]
    gone: Sequence[Fact] = ()
    partial: bool = False


class ShapeChecker(Protocol):
    """Judges plans by the shapes of the base.

    Whatever was judged beforehand of shapes that are written is handed in; without it, all of it is judged at once.
    """

    def findings(self, plan: Plan, view: FactsView, preparation: Preparation | None) -> Sequence[Finding]:
        """full(after) − full(before), as IncrementalEqualsFull has it.

        Raises:
            Unprepared: what was judged beforehand is out of date.
        """
        ...

    def noticed(self, plan: Plan, view: FactsView, preparation: Preparation | None) -> Sequence[FactContent]:
        """What `load_findings` has to be told that a chunk brings; all else changes nothing in what is found."""
        ...

    def missed(self, plan: Plan, view: FactsView) -> Sequence[Fact]:
        """The same of what a chunk supersedes, which is nothing of a reserved graph."""
        ...

    def load_findings(self, load: Loaded, view: FactsView, preparation: Preparation | None) -> Sequence[Finding]:
        """As `findings`, for a load session whose facts and evidence are already in the view."""
        ...


class LoadImpactChecker(Protocol):
    """Gathers what of a load session may change the answers of registered queries."""

    def take(self, plan: Plan) -> None:
        """Gathers it from the next chunk."""
        ...

    def findings(self, certificate: str, issued_at: Instant, view: LedgerView) -> Sequence[Finding]:
        """What is found, once the facts of the load are in the view."""
        ...


class ImpactChecker(Protocol):
    """Judges plans by what they do to the answers of registered queries."""

    def findings(self, plan: Plan, facts: tuple[Fact, ...], view: LedgerView) -> Sequence[Finding]:
        """The answers after without the answers before, for a plan that is not in the view.

        Args:
            plan: it.
            facts: those of `m:queries` that are believed in the view.
            view: what it was planned against.
        """
        ...

    def before_load(
        self, facts: tuple[Fact, ...], session: str, chunks: Callable[[], Iterable[Sequence[object]]]
    ) -> None:
        """To be called in the turn of a load session, before anything of it is planned.

        Args:
            facts: those of `m:queries` that are believed.
            session: the name of the load.
            chunks: gives what is staged of it, in another thread.

        Raises:
            StepBack: queries are to be asked aside first.
        """
        ...

    def load(self, facts: tuple[Fact, ...]) -> LoadImpactChecker:
        """The same for a load session, by the queries that these facts hold."""
        ...


class EntailmentChecker(Protocol):
    """Judges plans by what follows from them, where the ontology has that followed."""

    def findings(self, plan: Plan, facts: tuple[Fact, ...], view: LedgerView) -> Sequence[Finding]:
        """What follows since, and no more, and what cannot be since, of a plan that is not in the view.

        Args:
            plan: it.
            facts: those of `m:ontology` that are believed in the view.
            view: what it was planned against.
        """
        ...

    def of_load(self, load: Loaded, facts: tuple[Fact, ...], view: LedgerView) -> Sequence[Finding]:
        """The same of a load session whose facts are in the view, and not committed.

        Args:
            load: it.
            facts: those of `m:ontology` that were believed before.
            view: the transaction.
        """
        ...


class Governance(Protocol):
    """The digests of what a plan was judged by."""

    def digests(self, view: FactsView) -> Digests:
        """Digests of shapes, ontology, rules, policy and query registry as believed in the view."""
        ...
