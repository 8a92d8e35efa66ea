"""The log of a base and its keys, as they are read."""

from __future__ import annotations

from typing import Protocol


class LogView(Protocol):
    """The log and its keys."""

    def log_size(self) -> int:
        """How many events the log has."""
        ...

    def events(self, first: int, count: int) -> list[bytes]:
        """So many events from a position on, as they were logged."""
        ...

    def editor_key(self, principal: str) -> str | None:
        """The key that is registered for an editor, in multibase; None: there is none."""
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
