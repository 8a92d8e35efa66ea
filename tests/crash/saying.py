"""What a life says, and how it is read: JSON objects, a line each.

Example
-------
::

    acknowledge(outcome, key="k", changes=[Assert(statement)])
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self
from uuid import UUID

from kernel.access import Principal
from kernel.changes import Assert, Change
from kernel.ports.records import CertificateState
from kernel.writing.submitting import Outcome
from tests.bridge.writing import WRITER


@dataclass(frozen=True)
class Acknowledged:
    """What somebody was told that the base has done.

    Attributes:
        certificate: what it got.
        state: of the certificate, then.
        head: at which it was applied.
        by: who asked.
        key: the idempotency key, if it had one.
        asserted: statements as N-Quads with start and end, each believed once the certificate is applied.
    """

    certificate: str
    state: str
    head: int | None
    by: str
    key: str | None
    asserted: list[tuple[str, int, int]]

    @property
    def id(self) -> UUID:
        """The certificate's id."""
        return UUID(self.certificate)

    @classmethod
    def of(cls, outcome: Outcome, by: Principal, key: str | None, changes: Sequence[Change]) -> Self:
        """What an outcome tells; of changes that may undo one another, nothing in particular."""
        assert outcome.state is not None
        asserted = [each for each in changes if isinstance(each, Assert)]
        believed = outcome.state is CertificateState.APPLIED and len(asserted) == len(changes)
        return cls(
            certificate=str(outcome.certificate),
            state=outcome.state.value,
            head=outcome.head,
            by=by.id,
            key=key,
            asserted=[
                (each.statement.nquad, each.validity.interval.start, each.validity.interval.end)
                for each in asserted
                if believed
            ],
        )


def acknowledge(
    outcome: Outcome, *, by: Principal = WRITER, key: str | None = None, changes: Sequence[Change] = ()
) -> None:
    """Says what became of a request."""
    say(acknowledged=asdict(Acknowledged.of(outcome, by, key, changes)))


def say(**what: object) -> None:
    """One line, whole, at once: up to 4,096 bytes go into a pipe in one piece (POSIX, `write`)."""
    line = f"{json.dumps(what)}\n".encode()
    assert len(line) <= 4_096
    os.write(1, line)
