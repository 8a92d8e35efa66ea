"""Reading the log and its keys."""

from __future__ import annotations

from bridge.ledger.schema import KEY_EVENTS
from bridge.ledger.subtrees import hashes_of
from bridge.ledger.views.rows import bytes_of, number_of, text_of
from bridge.ledger.views.view import View


class LogReading(View):
    """The log and its keys."""

    def log_size(self) -> int:
        """How many events the log has."""
        return self._session.one("SELECT coalesce(max(position) + 1, 0) FROM events", (), number_of) or 0

    def events(self, first: int, count: int) -> list[bytes]:
        """So many events from a position on, as they were logged."""
        sql = "SELECT event FROM events WHERE position >= ? AND position < ? ORDER BY position"
        return self._session.all(sql, (first, first + count), bytes_of)

    def editor_key(self, principal: str) -> str | None:
        """The key that is registered for an editor, in multibase; None: there is none."""
        return self._session.one("SELECT multikey FROM editor_keys WHERE principal = ?", (principal,), text_of)

    def signing_key(self) -> str | None:
        """The key that certificates are signed with, in multibase; None before there was one."""
        return self._session.one("SELECT multikey FROM keys WHERE used_until IS NULL", (), text_of)

    def key_events(self) -> list[tuple[int, bytes]]:
        """Every event about a key, with its position, in order."""
        return self._session.all(f"{KEY_EVENTS} ORDER BY position", (), _event_of)

    def log_hashes(self, level: int, first: int, count: int) -> list[bytes]:
        """So many hashes of the log's tree (`certificates.tiles`): of leaves, or above them of full tiles."""
        return hashes_of(self._session, level, first, count)


def _event_of(row: tuple[int, bytes]) -> tuple[int, bytes]:
    return row
