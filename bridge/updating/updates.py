"""The updates of one base: how each comes to the sequencer, and what it is evaluated against.

Rules (BoundToState, OneSequencer)
-----
* An update without WHERE is worked out where it is planned: within its group, against the members before it.
* A WHERE may take long, and is evaluated beside the sequencer, by a worker, at the state of the base. The write is
  planned only if the base still stands there: no other write was applied, and nothing has begun or ended since. Else it
  is evaluated anew; and when that has come to nothing `ATTEMPTS` times, once more within the sequencer, where nobody
  comes in between. The others wait for that, so it has `HELD` seconds and no more: what takes longer is told so.
* What is kept of an update in review is its net changes; an approval plans those.
* What writes shapes is judged beside the sequencer as well (`kernel.writing.preparing`): what follows from a WHERE is
  foreseen from what it came to last, and what was judged for it is kept for when it is evaluated anew.
* Much INSERT DATA, or DELETE DATA, is a load session (`bridge.sparql.update.bulk`), one at a time. So is whatever else
  comes to more than `LARGE` statements, unless it governs: what it comes to is worked out beside the sequencer, whether
  it has a WHERE or not, and staged.

Example
-------
::

    update = Update.read("DELETE WHERE { ?s ?p ?o }", terms)
    outcome = updates.apply(update, updates.evaluate(update, solver)).result()
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final

from bridge.sparql.update.bulk import Governs, said, session_of, stage_update
from bridge.sparql.update.solving import moved
from bridge.updating.evaluating import Evaluated, Place, effect_of
from bridge.updating.graphs import GraphWrite
from bridge.updating.request import LARGE
from bridge.updating.requiring import is_due
from kernel.errors import CallerError, MunimentError, QueryLimit, ShuttingDown, StateMoved
from kernel.vocabulary import SHAPES_GRAPH
from kernel.writing.loading import LoadRequest, session_key
from kernel.writing.net_effect import NetEffect
from kernel.writing.submitting import outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from typing import TypeAlias

    from bridge.sparql.update.solving import Solver
    from bridge.updating.graphs import WholeGraph
    from bridge.updating.path import WritePath
    from bridge.updating.request import Update
    from bridge.updating.terms import Terms
    from kernel.ports.heads import Head
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.time.instants import Instant
    from kernel.writing.deferred import Deferred
    from kernel.writing.group import Group
    from kernel.writing.plan import Plan
    from kernel.writing.preparing import Preparation
    from kernel.writing.submitting import Outcome

    _AtHead: TypeAlias = Callable[[LedgerView, Head, Instant], NetEffect]

ATTEMPTS: Final = 3
"""How often a WHERE is evaluated beside the sequencer before that is done within it."""

HELD: Final = 2.0
"""Seconds that others wait at most while a WHERE is evaluated within the sequencer."""


def _anywhere(group: Group, at: Instant) -> None:
    """Whatever the state is, what was staged may be planned."""
    del group, at


class Updates:
    """Updates of one base.

    Args:
        ledger: of the base.
        path: what writes it.
    """

    def __init__(self, ledger: Ledger, path: WritePath) -> None:
        self._ledger = ledger
        self._path = path
        self._bulk = ThreadPoolExecutor(1, "bulk-update")

    def close(self) -> None:
        """Finishes what is being loaded, and takes no more."""
        self._bulk.shutdown(cancel_futures=True)

    def load(self, update: Update) -> Future[Outcome]:
        """Stages and queues an update that `is_bulk`, after those before it."""
        return self._in_bulk(lambda: self._load_data(update))

    def evaluate(self, update: Update, solver: Solver | None) -> Evaluated:
        """Evaluates an update where the base stands; safe from any thread.

        Args:
            update: one that `has_where`, or `may_be_large`.
            solver: evaluates a WHERE; None where it has none.

        Raises:
            CallerError: it cannot be evaluated, takes more than it may, or is not the caller's to ask.
            StateMoved: the base moved on meanwhile.
            StoreUnavailable: a store cannot be read.
        """
        with self._ledger.reading() as view:
            head = view.head()
            if update.terms.key is not None and view.idempotent(update.terms.principal.id, update.terms.key):
                effect = NetEffect(view, head.clock, update.terms.principal)  # it will get what it got before
            else:
                place = Place(view, head.position, head.clock, head.clock, self._path.host.now())
                effect = effect_of(update, place, solver)
        return Evaluated(effect, head.position, head.clock)

    def apply(self, update: Update, evaluated: Evaluated | None) -> Future[Outcome]:
        """Queues an update, evaluated if it `has_where`; the future has its outcome, or the error it met.

        `StateMoved` is met when the base has moved on since it was evaluated. What is staged of it is not in
        `evaluated` any more.
        """
        if evaluated is not None and self._is_session(update, evaluated):
            return self._in_bulk(lambda: self._load_effect(update, evaluated))
        if evaluated is None or not update.has_where:
            return self._apply_told(update)

        def effect(group: Group, at: Instant) -> NetEffect:
            evaluated.require_at(group, at)
            return evaluated.effect

        return self._submit(update, effect, alone=len(evaluated.effect) > LARGE, foreseen=evaluated)

    def _is_session(self, update: Update, evaluated: Evaluated) -> bool:
        effect = evaluated.effect
        return len(effect) > LARGE and not update.terms.dry_run and not effect.governs

    def _apply_told(self, update: Update) -> Future[Outcome]:
        """Queues an update in which nothing has to be evaluated."""

        def effect(view: LedgerView, head: Head, at: Instant) -> NetEffect:
            return effect_of(update, Place(view, head.position, head.clock, at, at))

        def within(group: Group, at: Instant) -> NetEffect:
            return effect(group.tx, group.head, at)

        if not update.says_shapes:
            return self._submit(update, within, alone=update.may_be_large)
        return self._prepare(update, effect, within, alone=update.may_be_large)

    def _foresee(self, terms: Terms, effect: _AtHead, view: LedgerView) -> Plan | None:
        """What a write would do at the head of a view: to prepare for, if it writes shapes."""
        at = self._path.host.now()
        submission = terms.submission(effect(view, view.head(), at), view, at)
        return None if submission is None else self._path.submitter.foresee(view, submission, at)

    def apply_alone(self, update: Update, solver: Solver, foreseen: Evaluated | None = None) -> Future[Outcome]:
        """Queues an update that is to be evaluated within the sequencer, in a group of its own.

        Args:
            update: that `has_where`.
            solver: of which no more than `HELD` seconds are asked. Where that is too little, `StateMoved` is met.
            foreseen: what it came to last.
        """

        def effect(group: Group, at: Instant) -> NetEffect:
            if is_due(group.tx, group.head.clock, at):
                raise moved()
            try:
                return effect_of(update, Place(group.tx, group.head.position, group.head.clock, at, at), solver)
            except QueryLimit as error:
                if error.data.get("of") == "time":
                    raise too_slow() from error
                raise

        return self._submit(update, effect, alone=True, foreseen=foreseen)

    def write_graph(self, written: WholeGraph) -> Future[tuple[Outcome, bool]]:
        """Queues a write of a graph as a whole: its outcome, and whether the graph was there before."""
        draft = written.terms.draft(lambda group, at: written.effect(group.tx, group.head, at))

        def run(group: Group, preparation: Preparation | None = None) -> tuple[Outcome, bool]:
            return _told(lambda: self._path.submitter.submit(group, draft, preparation)), written.existed

        alone = written.how is not GraphWrite.POST or len(written.statements) > LARGE
        if written.graph == SHAPES_GRAPH:
            return self._path.prepare(partial(self._foresee, written.terms, written.effect), run, alone=alone)
        return self._path.enqueue(run, alone=alone)

    def _submit(
        self,
        update: Update,
        effect: Callable[[Group, Instant], NetEffect],
        *,
        alone: bool = False,
        foreseen: Evaluated | None = None,
    ) -> Future[Outcome]:
        if foreseen is not None and foreseen.writes_shapes:
            return self._prepare(update, lambda *_: foreseen.effect, effect, alone=alone)
        draft = update.terms.draft(effect)
        submitter = self._path.submitter
        return self._path.enqueue(lambda group: _told(lambda: submitter.submit(group, draft)), alone=alone)

    def _prepare(
        self, update: Update, foreseen: _AtHead, effect: Callable[[Group, Instant], NetEffect], *, alone: bool
    ) -> Future[Outcome]:
        """Queues an update that writes shapes, once what it is foreseen to come to has been judged."""
        draft, submitter = update.terms.draft(effect), self._path.submitter
        return self._path.prepare(
            partial(self._foresee, update.terms, foreseen),
            lambda group, preparation: _told(lambda: submitter.submit(group, draft, preparation)),
            alone=alone,
        )

    # --- load sessions ------------------------------------------------------------------------------------------------

    def _in_bulk(self, work: Callable[[], Outcome]) -> Future[Outcome]:
        """Does this after what was given before."""
        try:
            return self._bulk.submit(work)
        except RuntimeError as error:
            raise ShuttingDown("the base is closing", remedy="send the request again once it is served") from error

    def _load_data(self, update: Update) -> Outcome:
        now = self._path.host.now()
        try:
            return self._load(update.terms, said(update.data, update.terms, now, strict=update.strict))
        except Governs:
            return self._apply_told(update.told()).result()

    def _load_effect(self, update: Update, evaluated: Evaluated) -> Outcome:
        terms = update.terms
        changes = evaluated.effect.drained(self._path.host.now(), terms.since)
        return self._load(terms, changes, evaluated.require_at)

    def _load(
        self, terms: Terms, changes: Iterator[Deferred], require: Callable[[Group, Instant], None] = _anywhere
    ) -> Outcome:
        """Loads what an update comes to, unless its key says that this was done."""
        submitter, session = self._path.submitter, session_of(terms)

        def before(group: Group) -> Outcome | None:
            answered = submitter.answered_before(group, terms)
            entry = group.tx.idempotent(terms.principal.id, session_key(session))
            record = None if entry is None else group.tx.certificate(entry.certificate)
            return outcome_of(group.tx, record) if answered is None and record is not None else answered

        outcome = None if terms.key is None else self._path.enqueue(before).result()
        if outcome is None:
            request = stage_update(self._ledger, session, changes, terms)
            outcome = self._loaded(LoadRequest(request, terms.principal, lambda _: None, require))
        loaded = outcome
        if terms.key is not None:
            self._path.enqueue(lambda group: submitter.remember(group, terms, loaded)).result()
        return outcome

    def _loaded(self, wanted: LoadRequest) -> Outcome:
        """What becomes of a session; one that cannot be planned is not kept."""
        try:
            return self._path.load(wanted).result()
        except CallerError:
            self._ledger.unstage(wanted.request.session or "")
            raise


def too_slow() -> StateMoved:
    """What to raise for an update that is overtaken each time, and takes too long for the others to wait for it."""
    return StateMoved(
        "the base moved on each time that the update was evaluated, and it takes too long for others to wait for it",
        remedy="change fewer statements at a time, give more selective patterns, or send it again when less is written",
    )


def _told(submit: Callable[[], Outcome]) -> Outcome:
    """The outcome; an error about one of the net changes, which nobody has seen, is about the request."""
    try:
        return submit()
    except MunimentError as error:
        if error.where is not None and error.where.startswith("/changes/"):
            error.where = None
        raise
