"""Writers that ask for whatever comes to mind, and say what they were told.

Rules
-----
* What they ask for is drawn from a seed; what the base makes of it depends on what it holds.
* Every second request has an idempotency key; some are sent again, under the key and with the body that they had.
* Facts begin and end within milliseconds, too, so that the clock moves by itself meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from decimal import Decimal
from random import Random
from threading import Thread
from typing import TYPE_CHECKING, Final
from uuid import UUID

from certificates.records import DecisionKind
from kernel.changes import Assert, Change, End, Retract, Revise
from kernel.errors import CallerError
from kernel.ports.records import CertificateState
from kernel.time.instants import SECOND, Instant
from kernel.time.timevalues import exact
from tests.bridge.writing import DOUBTED, EDITOR, OSLO, PARIS, ROME, decide, during, living, person, submission
from tests.crash.saying import acknowledge, say

if TYPE_CHECKING:
    from bridge.base import Base
    from kernel.terms import Iri, Statement

WRITERS: Final = 8
PERSONS: Final = 60
"""Few enough for writers to get in one another's way, enough for most requests to make sense."""


def write_at_random(base: Base, seed: int) -> None:
    """Writes until the process is killed."""
    with base.ledger.reading() as view:
        waiting = deque(record.id for record in view.certificates(state=CertificateState.PENDING))
    threads = [Thread(target=_Writer(base, seed, number, waiting).run) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class _Writer:
    """One of them."""

    def __init__(self, base: Base, seed: int, number: int, waiting: deque[UUID]) -> None:
        self._base = base
        self._name = f"{seed}-{number}"
        self._random = Random(self._name)
        self._waiting = waiting
        self._sent: list[tuple[str, Sequence[Change], UUID]] = []

    def run(self) -> None:
        """Asks on and on."""
        number = 0
        while True:
            number += 1
            try:
                self._ask(number)
            except CallerError:
                say(refused=True)

    def _ask(self, number: int) -> None:
        drawn = self._random.random()
        if drawn < 0.15 and self._waiting:
            self._decide()
        elif drawn < 0.25 and self._sent:
            self._send_again()
        else:
            key = f"{self._name}-{number}" if self._random.random() < 0.5 else None
            self._write(key, self._changes())

    def _write(self, key: str | None, changes: Sequence[Change]) -> None:
        outcome = self._base.submit(submission(*changes, key=key, body=(key or "").encode())).result()
        acknowledge(outcome, key=key, changes=changes)
        assert outcome.certificate is not None
        if key is not None:
            self._sent.append((key, changes, outcome.certificate))
        if outcome.state is CertificateState.PENDING:
            self._waiting.append(outcome.certificate)

    def _send_again(self) -> None:
        key, changes, certificate = self._random.choice(self._sent)
        outcome = self._base.submit(submission(*changes, key=key, body=key.encode())).result()
        if outcome.certificate != certificate:
            say(broken=f"the key {key} got {certificate}, and then {outcome.certificate}")

    def _decide(self) -> None:
        certificate = self._waiting.popleft()
        decision = DecisionKind.APPROVE if self._random.random() < 0.7 else DecisionKind.REJECT
        acknowledge(decide(self._base, certificate, decision), by=EDITOR)

    def _changes(self) -> list[Change]:
        return [self._change() for _ in range(self._random.choice((1, 1, 1, 2, 5)))]

    def _change(self) -> Change:
        statement = living(self._random.choice((PARIS, ROME, OSLO)), person(self._random.randrange(PERSONS)))
        drawn = self._random.random()
        if drawn < 0.6:
            return self._assertion(statement)
        if drawn < 0.75:
            return End(statement, exact(self._soon()))
        if drawn < 0.9:
            return self._revision(statement.subject) or self._assertion(statement)
        return Retract(statement)

    def _assertion(self, statement: Statement) -> Assert:
        start = self._random.choice((None, 2000, self._soon()))
        end = self._random.choice((None, None, Instant(self._soon() + SECOND)))
        confidence: Decimal | None = DOUBTED if self._random.random() < 0.2 else None
        return Assert(statement, during(start, end), confidence=confidence)

    def _revision(self, subject: Iri) -> Revise | None:
        with self._base.ledger.reading() as view:
            believed = sorted(fact.id for fact in view.believed(subject=subject))
        if not believed:
            return None
        return Revise(self._random.choice(believed), end=exact(Instant(self._soon() + SECOND)))

    def _soon(self) -> Instant:
        """Within 50 ms."""
        return Instant(self._base.host.now() + self._random.randrange(SECOND // 20))
