"""Reading certificates, their items and decisions, and the heads that they made."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from bridge.ledger.certificate_rows import CERTIFICATE_COLUMNS, certificate_of, decision_of, idempotency_of, item_of
from bridge.ledger.views.rows import bytes_of, number_of, select, text_of
from bridge.ledger.views.view import View
from certificates.certificate import Verdict
from kernel.ports.heads import AppliedHead
from kernel.ports.records import CertificateState
from kernel.time.instants import Instant

if TYPE_CHECKING:
    from uuid import UUID

    from bridge.ledger.session import Value
    from certificates.items import ItemKind, SaltedItem
    from kernel.ports.records import CertificateRecord, DecisionRecord, IdempotencyEntry


LEAF_SIZE: Final = 32

_ITEMS: Final = """SELECT kind, ordinal, salt, body FROM items
    WHERE certificate = ? AND kind = ? AND ordinal >= ? ORDER BY ordinal LIMIT ?"""

_CERTIFICATE: Final = select(
    CERTIFICATE_COLUMNS, "FROM certificates LEFT JOIN requests ON requests.certificate = id WHERE id = ?"
)

_HEADS: Final = "SELECT head, instant FROM certificates INDEXED BY heads WHERE head > ? ORDER BY head LIMIT ?"

_NEWEST_HEADS: Final = _HEADS.replace("ORDER BY head", "ORDER BY head DESC")

_DECISIONS: Final = """SELECT decisions.certificate, decisions.kind, decisions.record, comment, items.salt, items.body
    FROM decisions LEFT JOIN items
        ON items.certificate = decisions.certificate AND items.kind = 'comment' AND items.ordinal = comment
    WHERE decisions.certificate = ? ORDER BY place"""


class CertificatesReading(View):
    """Certificates, what belongs to them, and their heads."""

    def certificate(self, certificate: UUID) -> CertificateRecord | None:
        """A certificate by its id."""
        return self._session.one(_CERTIFICATE, (certificate.bytes,), certificate_of)

    def certificates(
        self,
        *,
        state: CertificateState | None = None,
        verdict: Verdict | None = None,
        after: UUID | None = None,
        limit: int = 50,
        oldest_first: bool = False,
    ) -> list[CertificateRecord]:
        """Certificates, newest or oldest first, from just beyond `after` on."""
        wanted: list[Value] = [value for value in (state, verdict) if value is not None]
        if after is not None:
            wanted.append(after.bytes)
        sql = _listing(state, verdict, after is not None, oldest_first)
        return self._session.all(sql, (*wanted, limit), certificate_of)

    def items(self, certificate: UUID, kind: ItemKind, *, first: int = 0, limit: int | None = None) -> list[SaltedItem]:
        """The salted items that are left of a certificate, by ordinal: from ordinal `first` on, `limit` of them."""
        most = -1 if limit is None else limit  # as SQLite says "all of them"
        return self._session.all(_ITEMS, (certificate.bytes, kind.value, first, most), item_of)

    def leaves(self, certificate: UUID, kind: ItemKind) -> list[bytes]:
        """Every leaf hash of the kind, by ordinal."""
        sql = "SELECT hashes FROM leaves WHERE certificate = ? AND kind = ? ORDER BY first"
        hashes = b"".join(self._session.all(sql, (certificate.bytes, kind.value), bytes_of))
        return [hashes[start : start + LEAF_SIZE] for start in range(0, len(hashes), LEAF_SIZE)]

    def decisions(self, certificate: UUID) -> list[DecisionRecord]:
        """Decisions and re-checks of a certificate, oldest first."""
        return self._session.all(_DECISIONS, (certificate.bytes,), decision_of)

    def idempotent(self, principal: str, key: str) -> IdempotencyEntry | None:
        """What the key was used for."""
        sql = "SELECT body_digest, certificate FROM idempotency WHERE principal = ? AND key = ?"
        return self._session.one(sql, (principal, key), idempotency_of)

    def recorded_in(self, head: int) -> Instant | None:
        """The transaction instant of a head; None for other positions."""
        return self._session.one("SELECT instant FROM certificates WHERE head = ?", (head,), _instant)

    def head_at(self, instant: Instant) -> int | None:
        """The last head whose transaction instant is at or before the instant."""
        sql = "SELECT head FROM certificates WHERE instant <= ? ORDER BY instant DESC LIMIT 1"
        return self._session.one(sql, (instant,), number_of)

    def heads(self, *, after: int | None = None, limit: int = 50, newest_first: bool = False) -> list[AppliedHead]:
        """Heads in their order, from beyond `after` on, or the newest first."""
        return self._session.all(
            _NEWEST_HEADS if newest_first else _HEADS, (-1 if after is None else after, limit), _head
        )

    def contradiction_owner(self, certificate: UUID, finding: int) -> str | None:
        """Who looks after a contradiction; None: nobody was given it."""
        sql = "SELECT owner FROM contradiction_owners WHERE certificate = ? AND finding = ?"
        return self._session.one(sql, (certificate.bytes, finding), text_of)


@lru_cache(maxsize=64)
def _listing(state: CertificateState | None, verdict: Verdict | None, paged: bool, oldest_first: bool) -> str:
    """A list of certificates: rare states and verdicts through their indexes, common ones by following the ids."""
    beyond, order = ("id > ?", "ASC") if oldest_first else ("id < ?", "DESC")
    tests = ["state = ?"] * (state is not None) + ["verdict = ?"] * (verdict is not None) + [beyond] * paged
    through = ""
    if state not in {None, CertificateState.APPLIED}:
        through = "INDEXED BY certificates_by_state"
        tests.append("state <> 'applied'")
    elif verdict not in {None, Verdict.CLEAR}:
        through = "INDEXED BY certificates_by_verdict"
        tests.append("verdict <> 'clear'")
    where = f"WHERE {' AND '.join(tests)}" if tests else ""
    return select(
        CERTIFICATE_COLUMNS,
        f"FROM certificates {through} LEFT JOIN requests ON requests.certificate = id {where}"
        f" ORDER BY id {order} LIMIT ?",
    )


def _instant(row: tuple[int]) -> Instant:
    return Instant(row[0])


def _head(row: tuple[int, int]) -> AppliedHead:
    return AppliedHead(row[0], Instant(row[1]))
