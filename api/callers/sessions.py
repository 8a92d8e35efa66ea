"""Sessions of people in a browser: who signed in, for how long, and how often somebody tried in vain.

Rules
-----
* A session is known by a random cookie, of which only the SHA-256 is kept, and holds the hash of the token that it was
  begun with. Who that is, is looked up with each request: a token that is revoked or expired ends its sessions.
* A session ends after `IDLE` without a request, after `LONGEST` in any case, and when the service stops.
* A one-time code stands for a token that is known to the process already. It works once, for its lifetime.
* Sessions, drafts, codes and addresses that failed are bounded in number; the oldest give way.
* Of one address `FAILURES` sign-ins may fail within `WINDOW`; more are refused unseen, until that has passed.

Example
-------
>>> sessions = Sessions(clock=lambda: 0.0)
>>> code = sessions.issue_code(bytes(32))
>>> sessions.redeem(code) == bytes(32), sessions.redeem(code)
(True, None)
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest, digest
from secrets import token_bytes, token_urlsafe
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeVar

from api.errors import TooManyAttempts

if TYPE_CHECKING:
    from collections.abc import Callable

K = TypeVar("K")
V = TypeVar("V")

IDLE: Final = 8 * 3_600.0
LONGEST: Final = 7 * 86_400.0
CODE_LIFETIME: Final = 10 * 60.0
WINDOW: Final = 60.0
"""Seconds, as are the others."""

FAILURES: Final = 10

_MOST_SESSIONS: Final = 10_000
_MOST_NOTICES: Final = 32
_MOST_DRAFTS: Final = 256
_MOST_CODES: Final = 1_000
_MOST_ADDRESSES: Final = 4_096


@dataclass(slots=True)
class Session:
    """One person's, in one browser.

    Attributes:
        token: the SHA-256 of the token that it was begun with.
        forgery_token: what each form of the session carries, so that no other site can send one.
        notices: what is said once, by the page that it is about; of the last pages only.
        draft: what was written when the session before it had ended, and the page on which.
    """

    token: bytes
    begun: float
    used: float
    forgery_token: str = field(default_factory=lambda: token_urlsafe(24))
    notices: OrderedDict[str, str] = field(default_factory=OrderedDict)
    draft: tuple[str, str] | None = None

    def is_over(self, now: float) -> bool:
        """Whether it has ended by itself."""
        return now - self.used > IDLE or now - self.begun > LONGEST

    def say(self, path: str, notice: str) -> None:
        """Has something said when the page of that path is looked at next."""
        self.notices[path] = notice
        self.notices.move_to_end(path)
        _bound(self.notices, _MOST_NOTICES)

    def take_notice(self, path: str) -> str | None:
        """What is to be said on a page, once."""
        return self.notices.pop(path, None)

    def draft_of(self, path: str) -> str | None:
        """What was written on a page before."""
        return self.draft[1] if self.draft is not None and self.draft[0] == path else None

    def forget_draft(self, path: str) -> None:
        """Lets go of what was written on a page: it has been sent."""
        if self.draft_of(path) is not None:
            self.draft = None


class Sessions:
    """All of them, in the memory of the process that serves; safe from any thread."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._sessions: OrderedDict[bytes, Session] = OrderedDict()
        self._with_draft: deque[Session] = deque()
        self._codes: OrderedDict[bytes, tuple[bytes, float]] = OrderedDict()
        self._failures: OrderedDict[str, list[float]] = OrderedDict()
        self._key = token_bytes(32)

    # --- sessions -----------------------------------------------------------------------------------------------------

    def begin(self, token: bytes, draft: tuple[str, str] | None = None) -> str:
        """Begins a session for whoever has the token with this SHA-256; answers its cookie.

        Args:
            token: the SHA-256 of the token.
            draft: what was written when a session had ended, and the page on which.
        """
        cookie, now = token_urlsafe(32), self._clock()
        session = Session(token, now, now, draft=draft)
        with self._lock:
            self._sessions[_known_by(cookie)] = session
            _bound(self._sessions, _MOST_SESSIONS)
            if draft is not None:
                self._with_draft.append(session)
            while len(self._with_draft) > _MOST_DRAFTS:
                self._with_draft.popleft().draft = None
        return cookie

    def find(self, cookie: str) -> Session | None:
        """The session of a cookie, which by this goes on; None when there is none, or it has ended."""
        name, now = _known_by(cookie), self._clock()
        with self._lock:
            session = self._sessions.get(name)
            if session is None:
                return None
            if session.is_over(now):
                del self._sessions[name]
                return None
            session.used = now
            self._sessions.move_to_end(name)
            return session

    def end(self, cookie: str) -> None:
        """Ends a session, if there is one."""
        with self._lock:
            self._sessions.pop(_known_by(cookie), None)

    # --- one-time codes -----------------------------------------------------------------------------------------------

    def issue_code(self, token: bytes, lifetime: float = CODE_LIFETIME) -> str:
        """A code for `/sign-in?code=…`.

        Args:
            token: the SHA-256 of the token that it stands for (`api.callers.auth.token_hash`).
            lifetime: in seconds.
        """
        code = token_urlsafe(24)
        with self._lock:
            self._codes[_known_by(code)] = token, self._clock() + lifetime
            _bound(self._codes, _MOST_CODES)
        return code

    def peek(self, code: str) -> bytes | None:
        """The hash of the token that a code stands for; the code stays good. None for one that is spent or unknown."""
        with self._lock:
            token, until = self._codes.get(_known_by(code), (None, 0.0))
        return token if self._clock() <= until else None

    def redeem(self, code: str) -> bytes | None:
        """The same, and the code is spent."""
        with self._lock:
            token, until = self._codes.pop(_known_by(code), (None, 0.0))
        return token if self._clock() <= until else None

    # --- the form before there is a session ---------------------------------------------------------------------------

    def forgery_token(self, nonce: str) -> str:
        """What the sign-in form carries, for a browser that keeps the nonce as a cookie."""
        return digest(self._key, nonce.encode(), "sha256").hex()

    def is_forgery(self, expected: str, given: str) -> bool:
        """Whether a form does not carry what it should; compared in constant time."""
        return not compare_digest(expected.encode(), given.encode())

    # --- failures -----------------------------------------------------------------------------------------------------

    def require_patience(self, address: str) -> None:
        """Raises `TooManyAttempts` while too many sign-ins from the address have failed."""
        with self._lock:
            recent = self._recent(address)
        if len(recent) >= FAILURES:
            raise TooManyAttempts(
                "too many sign-ins from here have failed", remedy=f"wait {WINDOW:.0f} seconds, then try again"
            )

    def failed(self, address: str) -> None:
        """Remembers that a sign-in from the address has failed."""
        with self._lock:
            self._failures[address] = [*self._recent(address), self._clock()]
            self._failures.move_to_end(address)
            _bound(self._failures, _MOST_ADDRESSES)

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - WINDOW
        return [at for at in self._failures.get(address, ()) if at > since]


def _known_by(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def _bound(held: OrderedDict[K, V], most: int) -> None:
    """Lets the oldest go."""
    while len(held) > most:
        held.popitem(last=False)
