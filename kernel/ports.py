"""The ports: everything outside that the kernel needs, as small Protocols.

Rules
-----
* Adapters live in `bridge`; each port has one abstract test case that every adapter passes.
* An adapter raises only errors of `kernel.errors`.
* A `LedgerTransaction` sees its own writes: while a group of plans is open, its transaction *is* the speculative head.
* Every read says what it guarantees.

Example
-------
::

    with ledger.transaction() as tx:      # rolled back unless committed
        held = tx.believed_of(statement)
        ...
        tx.commit()                       # durable when it returns
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from certificates.certificate import Digests, Verdict
    from certificates.findings import Finding
    from certificates.items import ItemKind, SaltedItem
    from certificates.lthash import LatticeHash
    from kernel.access import Principal
    from kernel.changes import Request
    from kernel.facts import Evidence, EvidenceContent, Fact, FactContent
    from kernel.instants import Instant
    from kernel.plan import Plan
    from kernel.precision import Precision
    from kernel.preparing import Preparation
    from kernel.terms import Iri, Statement, Term


class HostClock(Protocol):
    """The host's wall clock; it may step back."""

    def now(self) -> Instant:
        """The present instant, to the microsecond."""
        ...


class TermCanonicaliser(Protocol):
    """Knows what a store makes of a term."""

    def canonical(self, term: Term) -> Term:
        """The term as every store will hold it. Raises `InvalidTerm` for a term that a store would refuse."""
        ...


class CertificateState(StrEnum):
    """What became of a certificate."""

    APPLIED = "applied"
    PENDING = "pending"
    REJECTED = "rejected"
    REFUSED = "refused"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Head:
    """The state of a base as its ledger has it.

    Args:
        position: log position of the last applied event; None before the first.
        instant: its transaction instant; None before the first.
        clock: the valid-time instant up to which the current graphs stand.
        state: the lattice hash over the facts believed.
    """

    position: int | None
    instant: Instant | None
    clock: Instant
    state: LatticeHash


@dataclass(frozen=True, slots=True)
class AppliedHead:
    """A head: the log position of an applied event, and its transaction instant."""

    position: int
    instant: Instant


StatementTexts: TypeAlias = tuple[str, str, str, str]
"""Subject, predicate, object and graph of a statement in their N-Triples form."""


class FactTexts(NamedTuple):
    """A fact as the ledger has it, without any of it having been read as what it says.

    Args:
        id: of 16 bytes, as those of the family and the certificates are.
        subject: in its N-Triples form, as the other terms are.
        superseded: when; `FOREVER` while it is believed.
    """

    id: bytes
    family: bytes
    subject: str
    predicate: str
    object: str
    graph: str
    valid_from: int
    valid_to: int
    from_precision: Precision
    to_precision: Precision
    certificate: bytes
    recorded: int
    superseded: int
    superseded_by: bytes | None


@dataclass(frozen=True, slots=True)
class HistoryCounts:
    """How much of each kind history has.

    Args:
        facts: recorded.
        of_nodes: of them, those whose object is an IRI.
        bounds: starts and ends that they have.
        precisions: of bounds, those that are coarse or unknown.
        superseded: of the facts.
        evidence: pieces of it.
        details: that these have: episodes, confidences, and the parts of spellings.
    """

    facts: int
    of_nodes: int
    bounds: int
    precisions: int
    superseded: int
    evidence: int
    details: int


@dataclass(frozen=True, slots=True)
class CertificateRecord:
    """A certificate as the ledger keeps it, beside its items and events.

    Args:
        document: the signed bytes.
        graphs: every graph that its plan touches.
        issued: log position of its issued event.
        request: what was asked, kept only while the certificate is pending.
        head: log position of its applied event, once applied.
        instant: its transaction instant, once applied.
        successor: the certificate that took its place, once stale.
    """

    id: UUID
    document: bytes
    verdict: Verdict
    state: CertificateState
    principal: str
    graphs: tuple[Iri, ...]
    issued_at: Instant
    base_head: int | None
    issued: int
    request: Request | None
    head: int | None = None
    instant: Instant | None = None
    successor: UUID | None = None


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A signed decision or re-check, as stored."""

    certificate: UUID
    kind: str
    record: bytes
    comment: SaltedItem | None


@dataclass(frozen=True, slots=True)
class IdempotencyEntry:
    """What an idempotency key of a principal was used for: a digest of the body, and the certificate it got."""

    body_digest: bytes
    certificate: UUID


class PurgeState(StrEnum):
    """How far a purge has come."""

    WAITING = "waiting"
    PENDING = "pending"
    COMPLETE = "complete"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class PurgeRecord:
    """A purge as the ledger keeps it.

    Args:
        id: that of its certificate, once it is carried out.
        kind: of what.
        asked_by: the principal who asked for it.
        asked_at: when.
        digest: of what the preview said.
        target: what is to go, and `reason` why; kept only while it waits for a second person.
        decided_by: the second person, where there had to be one.
        head: at which it was carried out.
        report: what was gone where, as JSON; None before.
        receipt: the signed receipt as it stands; None before.
        restored_by: the certificate that lifted its tombstones.
    """

    id: UUID
    state: PurgeState
    kind: str
    asked_by: str
    asked_at: Instant
    digest: str
    target: str | None = None
    reason: str | None = None
    decided_by: str | None = None
    head: int | None = None
    report: bytes | None = None
    receipt: bytes | None = None
    restored_by: UUID | None = None


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a purge takes.

    Args:
        facts: all of them, believed or not.
        evidence: of those facts, and else from what is purged; each with its fact's graph.
        items: by certificate, kind and ordinal.
        certificates: whose idempotency keys are forgotten.
        sessions: staged load sessions.
        graph: to be struck out of the lists of graphs, too.
    """

    facts: Sequence[Fact]
    evidence: Sequence[tuple[Evidence, Iri]]
    items: Sequence[tuple[UUID, ItemKind, int]]
    certificates: Sequence[UUID]
    sessions: Sequence[str]
    graph: Iri | None


class FactsView(Protocol):
    """Facts believed at one head: the durable one, or the speculative one of an open transaction."""

    def believed_of(self, statement: Statement) -> Sequence[Fact]:
        """Every believed fact of exactly this statement, whatever its valid time, by start."""
        ...

    def ever_of(self, statement: Statement) -> Iterator[Fact]:
        """Every fact ever recorded of exactly this statement, believed or not."""
        ...

    def believed(
        self,
        *,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the term's name in RDF
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """Believed facts that match, whatever their valid time; indexed by subject, by object and by graph.

        In a transaction, write nothing while the iterator is in use; it ends with its view. So do all iterators here.
        """
        ...

    def fact(self, fact: UUID) -> Fact | None:
        """A fact by its id, believed or not."""
        ...

    def evidence_of(self, facts: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
        """The evidence for each of the facts, oldest first; facts without any are absent."""
        ...


class LedgerView(FactsView, Protocol):
    """A consistent read of a ledger."""

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Ends reads that take longer, all together: `LedgerUnavailable`, with the cause `interrupted`."""
        ...

    def head(self) -> Head:
        """The head, clock and state digest; before the first write, no position and the clock at `BEGINNING`."""
        ...

    def certificate(self, certificate: UUID) -> CertificateRecord | None:
        """A certificate by its id."""
        ...

    def facts_of_graph(
        self,
        graph: Iri,
        *,
        predicate: Iri | None = None,
        as_of: Instant | None = None,
        valid_at: Instant | None = None,
        after: UUID | None = None,
    ) -> Iterator[Fact]:
        """Facts of a graph believed now, or at `as_of`, in the order in which they were recorded.

        Only those true at `valid_at`, if it is given. From beyond the fact `after` on, whether or not that is one of
        them; nothing follows a fact that is not there.
        """
        ...

    def certificates(
        self,
        *,
        state: CertificateState | None = None,
        verdict: Verdict | None = None,
        after: UUID | None = None,
        limit: int = 50,
        oldest_first: bool = False,
    ) -> list[CertificateRecord]:
        """Certificates, newest first (ids are UUIDv7, so newest is greatest) or oldest first, from beyond `after`."""
        ...

    def items(self, certificate: UUID, kind: ItemKind, *, first: int = 0, limit: int | None = None) -> list[SaltedItem]:
        """The salted items that are left of a certificate, by ordinal: from ordinal `first` on, `limit` of them."""
        ...

    def leaves(self, certificate: UUID, kind: ItemKind) -> list[bytes]:
        """Every leaf hash of the kind, by ordinal, also of items that were purged."""
        ...

    def decisions(self, certificate: UUID) -> list[DecisionRecord]:
        """Decisions and re-checks of a certificate, oldest first."""
        ...

    def idempotent(self, principal: str, key: str) -> IdempotencyEntry | None:
        """What the key was used for."""
        ...

    def recorded_in(self, head: int) -> Instant | None:
        """The transaction instant of a head (a position at which a certificate was applied); None for others."""
        ...

    def head_at(self, instant: Instant) -> int | None:
        """The last head whose transaction instant is at or before the instant; None before the first."""
        ...

    def heads(self, *, after: int | None = None, limit: int = 50, newest_first: bool = False) -> list[AppliedHead]:
        """Heads in their order, from beyond `after` on, or the newest first."""
        ...

    def believed_at(
        self,
        as_of: Instant,
        *,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the word of RDF
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """Facts believed at `as_of` of a subject or of an object, one of which is to be given, as recorded.

        Nothing of other nodes is looked at; with a graph, nothing of other graphs.
        """
        ...

    def facts_at(self, as_of: Instant, valid_at: Instant) -> Iterator[Fact]:
        """Every fact believed at `as_of` and true at `valid_at`."""
        ...

    def statements_of(
        self,
        node: Term,
        *,
        as_object: bool = False,
        predicate: Iri | None = None,
        graphs: Sequence[Iri] | None = None,
        as_of: Instant,
        valid_at: Instant,
        most: int,
        largest: int,
    ) -> tuple[int, list[Statement]]:
        """What was believed at `as_of` and true at `valid_at` of a node, and at how many facts was looked for it.

        Facts of every time are looked at, but no more than `most` + 1 of them, so that more than `most` say that there
        are more; and none of graphs that are not asked for, so that it takes no longer for those.

        Args:
            node: which subject the facts have; or which object.
            as_object: whether it is their object.
            predicate: which they have; None: any.
            graphs: which they are in; None: any.
            as_of: as believed when.
            valid_at: as true when.
            most: how many may be looked at.
            largest: how many characters their terms may have; beyond that it counts as more than `most`.
        """
        ...

    def count_of(
        self,
        node: Term,
        *,
        as_object: bool = False,
        predicate: Iri | None = None,
        graphs: Sequence[Iri] | None = None,
        most: int,
    ) -> int:
        """How many facts `statements_of` would look at; a few more may be counted, whose terms only look the same."""
        ...

    def facts_differing(
        self,
        first: tuple[Instant, Instant],
        second: tuple[Instant, Instant],
        *,
        graph: Iri | None = None,
        node: Iri | None = None,
        graphs: Sequence[Iri] | None = None,
    ) -> Iterator[Fact]:
        """Every fact that holds at one of two moments and not at the other, each moment an as-of and a valid-at.

        Args:
            first: the one moment; its as-of no later than that of the other.
            second: the other.
            graph: the facts of a graph, by row; or
            node: the facts of a node, as subject or object.
            graphs: which graphs the facts of a node may be in; None: any.
        """
        ...

    def statements_at(self, as_of: Instant, valid_at: Instant) -> Iterator[StatementTexts]:
        """The statement of every fact believed at `as_of` and true at `valid_at`."""
        ...

    def count_at(
        self, as_of: Instant, valid_at: Instant, *, graphs: Sequence[Iri] | None = None, most: int | None = None
    ) -> int:
        """How many facts are believed at `as_of` and true at `valid_at`, of some graphs; no more than `most` + 1."""
        ...

    def statements_since(
        self, as_of: Instant, valid_at: Instant, clock: Instant
    ) -> Iterator[tuple[StatementTexts, bool]]:
        """What may tell a moment from stores that stand at this view's head and clock, or came there later.

        Each statement of it comes with whether it held at the moment, and more than once if it has several facts. What
        is not among them held then if it is in those stores, whatever they stood at since `as_of` and `clock`.

        Args:
            as_of: of the moment; at most the head's.
            valid_at: of the moment.
            clock: a clock that the stores had reached when they were looked at.
        """
        ...

    def count_since(self, as_of: Instant, valid_at: Instant, clock: Instant, *, most: int) -> int:
        """About how many statements that would give; no more than `most` + 1."""
        ...

    def facts_recorded(self, after: Instant | None, until: Instant) -> Iterator[Fact]:
        """Every fact recorded *or superseded* in (after, until], by row; supersession as it stands now."""
        ...

    def texts_recorded(self, after: Instant | None, until: Instant) -> Iterator[FactTexts]:
        """The same facts as they are stored, in a quarter of the time."""
        ...

    def count_recorded(self, after: Instant | None, until: Instant, *, most: int | None = None) -> int:
        """How many facts that would give; of those after an instant, no more than `most` + 1."""
        ...

    def history_at(self, as_of: Instant) -> HistoryCounts:
        """What was recorded by then, without what was superseded later; every fact is looked at."""
        ...

    def facts_due(self, after: Instant, until: Instant) -> Iterator[Fact]:
        """Every believed fact that begins or ends in (after, until]."""
        ...

    def next_due(self, after: Instant) -> Instant | None:
        """The first instant after `after` at which a believed fact begins or ends."""
        ...

    def evidence_recorded(self, after: Instant | None, until: Instant) -> Iterator[tuple[Evidence, Iri]]:
        """Evidence recorded in (after, until], each with the graph of its fact."""
        ...

    def graphs(self) -> frozenset[Iri]:
        """Every graph that a fact was ever recorded in."""
        ...

    def facts_ever(
        self,
        *,
        statement: Statement | None = None,
        family: UUID | None = None,
        node: Iri | None = None,
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """Every fact, believed or not, of a statement, a family, a node or a graph: of what is given.

        A node is meant wherever a statement names it. But for a statement, the whole ledger is read.
        """
        ...

    def mentions(self, term: Term) -> int:
        """How many facts, believed or not, have the term as subject or object."""
        ...

    def evidence_citing(self, episodes: Collection[Iri]) -> list[tuple[Evidence, Fact]]:
        """All evidence from some episodes, each with the fact that it is for. The whole ledger is read."""
        ...

    def sourced_before(self, fact: UUID, certificate: UUID) -> bool:
        """Whether a certificate brought evidence for a fact that was purged since."""
        ...

    def items_in_words(self) -> Iterator[tuple[UUID, SaltedItem]]:
        """Every item that may quote what others say, with its certificate; by certificate, kind and ordinal.

        Those are what was asked and why, findings, impact and comments of all certificates, and all else of those that
        were not applied. The whole ledger is read.
        """
        ...

    def purge(self, purge: UUID) -> PurgeRecord | None:
        """A purge by its id."""
        ...

    def purges(self) -> list[PurgeRecord]:
        """Every purge, oldest first."""
        ...

    def tombstones(self) -> list[tuple[UUID, str, bytes]]:
        """What stands: the purge that put it up, the kind and the hash of each."""
        ...

    def erased(self, purge: UUID) -> tuple[Iterator[tuple[bytes, bytes]], Iterator[tuple[bytes, str, int]]]:
        """What a purge took, as `certificates.purge_events.erasure_digest` has it."""
        ...

    def log_size(self) -> int:
        """How many events the log has."""
        ...

    def events(self, first: int, count: int) -> list[bytes]:
        """So many events from a position on, as they were logged."""
        ...

    def editor_key(self, principal: str) -> str | None:
        """The key that is registered for an editor, in multibase; None: there is none."""
        ...

    def contradiction_owner(self, certificate: UUID, finding: int) -> str | None:
        """Who looks after a contradiction; None: nobody was given it.

        Args:
            certificate: that was found to bring it.
            finding: the ordinal of its finding there.
        """
        ...

    def signing_key(self) -> str | None:
        """The key that certificates are signed with, in multibase; None before there was one."""
        ...

    def key_events(self) -> list[tuple[int, bytes]]:
        """Every event about a key, with its position, in order."""
        ...

    def log_hashes(self, level: int, first: int, count: int) -> list[bytes]:
        """So many hashes of the log's tree (`certificates.tiles`): of leaves, or above them of full tiles."""
        ...


class LedgerTransaction(LedgerView, Protocol):
    """The one write transaction of a ledger; it reads its own writes."""

    def changes(self) -> int:
        """Grows with every write, whatever it writes; so that one can tell that nothing was written."""
        ...

    def issue(self, record: CertificateRecord) -> None:
        """Adds a certificate."""
        ...

    def add_items(self, certificate: UUID, items: Sequence[SaltedItem]) -> None:
        """Adds items of one kind with their leaf hashes; may be called again with higher ordinals."""
        ...

    def settle(
        self,
        certificate: UUID,
        state: CertificateState,
        *,
        head: int | None = None,
        instant: Instant | None = None,
        successor: UUID | None = None,
    ) -> None:
        """Moves a certificate to another state; forgets its request unless it is still pending.

        Raises:
            NotFound: it was not issued.
        """
        ...

    def add_decision(self, decision: DecisionRecord) -> None:
        """Adds a signed decision or re-check."""
        ...

    def append_event(self, event: bytes) -> int:
        """Appends an event to the log and answers its position, from 0."""
        ...

    def record(self, certificate: UUID, at: Instant, facts: Iterable[tuple[FactContent, bytes]]) -> None:
        """Records facts, each with its leaf hash."""
        ...

    def supersede(self, certificate: UUID, at: Instant, facts: Iterable[UUID]) -> None:
        """Supersedes believed facts. Raises `StaleFact` for one that is not believed."""
        ...

    def add_evidence(self, certificate: UUID, at: Instant, evidence: Iterable[EvidenceContent]) -> None:
        """Adds evidence."""
        ...

    def unrecord(self, certificate: UUID) -> None:
        """Takes back what this transaction recorded, superseded and added as evidence for a certificate."""
        ...

    def remember(self, principal: str, key: str, entry: IdempotencyEntry) -> None:
        """Keeps what an idempotency key was used for; the last use counts."""
        ...

    def use_key(self, multibase: str, at: Instant) -> None:
        """From now on certificates are signed with this key, and no more with the one before."""
        ...

    def unstage(self, session: str) -> None:
        """Drops the chunks of a load session together with what is committed."""
        ...

    def erase(self, purge: UUID, erasure: Erasure) -> None:
        """Deletes what is to be purged, and keeps of facts and items what proves that they were there."""
        ...

    def bury(self, purge: UUID, tombstones: Iterable[tuple[str, bytes]]) -> None:
        """Puts up tombstones, by kind and hash."""
        ...

    def lift(self, purge: UUID) -> int:
        """Takes the tombstones of a purge away; answers how many there were."""
        ...

    def put_purge(self, record: PurgeRecord) -> None:
        """Adds a purge, or puts it in the place of the one of its id."""
        ...

    def set_head(self, head: Head) -> None:
        """Sets position, instant, clock and state digest."""
        ...

    def commit(self) -> None:
        """Makes everything durable (fsync) before it returns. Raises `LedgerUnavailable`; nothing is kept then."""
        ...


class Ledger(Protocol):
    """The durable append-only record of a base."""

    def transaction(self) -> AbstractContextManager[LedgerTransaction]:
        """Begins the one write transaction; leaving the context without `commit` rolls it back."""
        ...

    def reading(self) -> AbstractContextManager[LedgerView]:
        """A consistent read of the last committed state; safe from any thread, never waits for the writer."""
        ...

    def principal_of(self, token_hash: bytes) -> Principal | None:
        """Whose token has this SHA-256; None when unknown, expired or revoked."""
        ...

    def add_principal(self, principal: Principal, token_hash: bytes, *, expires: Instant | None = None) -> None:
        """Keeps a principal and the SHA-256 of its token. Raises `Conflict` when the id or the token is taken."""
        ...

    def revoke(self, principal: str) -> None:
        """From now on the principal's token is worth nothing. Raises `NotFound` for an id that nobody has."""
        ...

    def assign_contradiction(self, certificate: UUID, finding: int, owner: str) -> None:
        """From now on somebody looks after a contradiction that a certificate was found to bring."""
        ...

    def base_id(self) -> UUID:
        """The base's own id, made once."""
        ...

    def signing_key(self) -> str | None:
        """The key that certificates are signed with, in multibase; None before there was one."""
        ...

    def use_key(self, multibase: str, event: bytes | None = None) -> None:
        """From now on certificates are signed with this key, and no more with the one before; an event says so."""
        ...

    def stage(self, session: str, chunk: int, data: bytes) -> None:
        """Keeps a chunk of a load session durably, in the place of one of the same number."""
        ...

    def staged(self, session: str) -> Iterator[bytes]:
        """The chunks of a load session, in order."""
        ...

    def staged_chunks(self, session: str) -> int:
        """How many chunks of a load session are kept."""
        ...

    def staged_sessions(self) -> list[str]:
        """The load sessions of which chunks are kept."""
        ...

    def unstage(self, session: str) -> None:
        """Drops the chunks of a load session."""
        ...

    def compact(self) -> None:
        """Writes everything anew, so that nothing is left on disk of what was deleted; nobody writes meanwhile."""
        ...

    def forget_log(self) -> bool:
        """Empties whatever it writes ahead, unless a reader needs it still; answers whether it did."""
        ...

    def close(self) -> None:
        """Closes every connection; the ledger stays as it is on disk."""
        ...


class Stores(Protocol):
    """The two Oxigraph projections of a base, as the writer sees them."""

    def position(self) -> tuple[Instant | None, Instant]:
        """The (transaction instant, clock) that both stores are known to have reached; at least that far."""
        ...

    def apply(self, delta: StoreDelta) -> None:
        """Has both stores take a delta, so that whoever reads from now on finds it; doing so again changes nothing.

        When it is written is theirs to say. Raises `StoreUnavailable`: something failed, now or earlier.
        """
        ...

    @property
    def unsettled(self) -> bool:
        """Whether `settle` has something to write, or to say."""
        ...

    def settle(self) -> None:
        """Writes what was taken. Raises `StoreUnavailable`: that failed, now or earlier."""
        ...

    def start_over(self) -> None:
        """Has the next `load` begin with nothing: a delta that erases something may not have reached a store."""
        ...

    def load(self, deltas: Iterable[StoreDelta]) -> None:
        """Brings both up by many facts with bounded memory, whatever failed before.

        Readers stay on the state before until it is done. Raises `StoreUnavailable`.
        """
        ...


@dataclass(frozen=True, slots=True)
class StoreDelta:
    """What a store must add and take away to stand at (head, instant, clock).

    Args:
        recorded: facts recorded since (history), as recorded.
        superseded: facts superseded since (history), with their supersession.
        evidence: evidence recorded since, each with its fact's graph.
        appear: statements that are now in their current graphs.
        vanish: statements that are now not in their current graphs.
        erased: facts that were purged, as they stood.
        faded: evidence that was purged, each with its fact's graph.
    """

    head: int | None
    instant: Instant | None
    clock: Instant
    recorded: Sequence[Fact] = ()
    superseded: Sequence[Fact] = ()
    evidence: Sequence[tuple[Evidence, Iri]] = ()
    appear: Sequence[Statement] = ()
    vanish: Sequence[Statement] = ()
    erased: Sequence[Fact] = ()
    faded: Sequence[tuple[Evidence, Iri]] = ()

    @property
    def erases(self) -> bool:
        """Whether something was purged, which a store does not know from the ledger any more."""
        return bool(self.erased or self.faded)


class Check(Protocol):
    """Something that judges a plan."""

    def findings(self, plan: Plan, view: FactsView) -> Sequence[Finding]:
        """What the check says of a plan that is not yet in the view; the same plan and view, the same findings."""
        ...


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load session brought, as far as shapes may notice.

    Args:
        certificate: its own; its facts and evidence are known by it.
        issued_at: when that was issued.
        noticed: facts that it recorded, or brought evidence for.
    """

    certificate: UUID
    issued_at: Instant
    noticed: Sequence[FactContent]


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
        """What `load_findings` has to be told of a chunk; all else that it does changes nothing in what is found."""
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

    def of_load(self, facts: tuple[Fact, ...]) -> Sequence[Finding]:
        """The same of a load session: that it is not known."""
        ...


class Governance(Protocol):
    """The digests of what a plan was judged by."""

    def digests(self, view: FactsView) -> Digests:
        """Digests of shapes, ontology, rules, policy and query registry as believed in the view."""
        ...
