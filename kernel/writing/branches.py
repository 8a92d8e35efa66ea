"""Branches: plans that somebody has held for a while, to see what they would come to, upon the base as it is.

Rules
-----
* A branch is one request: the changes of its plans in their order, each of which sees those before it. What is
  submitted is that, whole, under one certificate. So its plans cite one source, or none.
* It is held upon the head, whatever that is: what is written to the base later is seen by it, and can stand in its way.
* It is its maker's; administrators of the base see it as well. For all others there is no such branch, and they are
  told so in the words that are for one that never was.
* Branches are bounded in number, of a caller and in all, in changes, in bytes, and in time. They are kept in memory
  alone, and nothing else knows of them. After a purge there are none: any of them may have held what was purged.
* One that was submitted holds nothing any more but the certificate that came of it, until its time is over.

Example
-------
::

    branches = Branches(Bounds(), host)
    branch = branches.make(principal, request, len(body))
    branches.one(principal, branch.id).request
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Final
from uuid import UUID

from certificates.ids import uuid7
from kernel.access import Role
from kernel.changes import LONGEST_REASON, Request
from kernel.errors import Busy, Conflict, Forbidden, InvalidChange, NotFound, StateMoved, TooManyChanges
from kernel.time.instants import SECOND, Instant

if TYPE_CHECKING:
    from certificates.certificate import Verdict
    from kernel.access import Principal
    from kernel.ports.heads import Head
    from kernel.ports.outside import HostClock
    from kernel.writing.submitting import Outcome

IN_ALL: Final = 1_000
"""Branches that are held for all callers together."""

SIZE_IN_ALL: Final = 256 * 2**20
"""Bytes that the plans of all of them came in."""

_CHANGE: Final = re.compile(r"/changes/(\d+)(.*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is held of one caller, and for how long.

    Args:
        branches: that are open at a time.
        changes: of one branch.
        size: bytes that its plans came in.
        seconds: that it is held for, since its last plan came.
    """

    branches: int = 8
    changes: int = 1_000
    size: int = 16 * 2**20
    seconds: int = 3_600


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch, as it is held.

    Args:
        id: its own, and that of the certificate that its plan is made for as long as it is not submitted.
        maker: the id of the principal whose it is.
        plans: what was asked for, one request after another; none once it was submitted.
        size: bytes that these came in.
        until: when it goes.
        refusals: how often it was submitted, and refused.
        certificate: what came of submitting it.
    """

    id: UUID
    maker: str
    plans: tuple[Request, ...]
    size: int
    until: Instant
    refusals: int = 0
    certificate: UUID | None = None

    @property
    def request(self) -> Request:
        """All of it as one request. Raises `Conflict` for one that was submitted."""
        if self.certificate is not None:
            raise Conflict(
                "the branch was submitted, and holds nothing any more",
                remedy="look at the certificate; what was applied is in the base",
                state="submitted",
            )
        changes = tuple(change for each in self.plans for change in each.changes)
        return Request(changes, _reason(self.plans), self.plans[0].episode, self.maker)

    def place(self, where: str | None) -> str | None:
        """The place of an error in its request, as one in its plans: `/plans/1/changes/0`."""
        match = None if where is None else _CHANGE.fullmatch(where)
        if match is None:
            return where
        number = int(match[1])
        for place, plan in enumerate(self.plans):
            if number < len(plan.changes):
                return f"/plans/{place}/changes/{number}{match[2]}"
            number -= len(plan.changes)
        return where

    @property
    def key(self) -> str:
        """The idempotency key of submitting it: no caller's own, for those have no spaces."""
        return f"what-if {self.id} {len(self.plans)} {self.refusals}"


@dataclass(frozen=True, slots=True)
class Foretold:
    """What a branch would have come to: the outcome of a dry run, and the head that it was judged at."""

    outcome: Outcome
    head: Head

    @property
    def verdict(self) -> Verdict:
        """The verdict on it."""
        return self.outcome.verdict


@dataclass(slots=True)
class _Held:
    """A branch, what it would come to, and the id of whoever is submitting it."""

    branch: Branch
    foretold: Foretold | None = None
    submitter: str | None = None


class Branches:
    """Those of one base; safe from any thread.

    Args:
        bounds: how much is held.
        host: the clock that they go by.
    """

    def __init__(self, bounds: Bounds, host: HostClock) -> None:
        self._bounds = bounds
        self._host = host
        self._lock = Lock()
        self._held: dict[UUID, _Held] = {}

    def make(self, principal: Principal, request: Request, size: int) -> Branch:
        """A new branch with a first plan.

        Raises:
            Forbidden: the caller writes to no graph.
            Conflict: the caller has as many as may be open.
            Busy: as many are held as there may be.
            TooManyChanges: the plan has more than a branch may.
        """
        if principal.highest < Role.WRITER:
            raise Forbidden("a branch takes a writer", remedy="ask an administrator for a token with the role you need")
        branch = self._checked(Branch(uuid7(), principal.id, (request,), size, self._until()))
        with self._lock:
            self._let_go()
            mine = sum(
                each.branch.maker == principal.id and each.branch.certificate is None for each in self._held.values()
            )
            if mine >= self._bounds.branches:
                raise Conflict(
                    f"you hold {mine} branches, as many as you may",
                    remedy="drop one with DELETE /what-if/…, or wait until its time is over",
                    state="full",
                )
            if len(self._held) >= IN_ALL:
                raise _full()
            self._require_room(size)
            self._held[branch.id] = _Held(branch)
        return branch

    def add(self, principal: Principal, identifier: UUID, request: Request, size: int) -> tuple[Branch, Branch]:
        """Adds a plan to a branch; answers the branch as it was, and as it is.

        Raises:
            NotFound: there is no such branch for the caller.
            Busy: as much is held as there may be.
            Conflict: it was submitted.
            StateMoved: it is being submitted.
            Forbidden: it is another's, which an administrator may see, submit and drop.
            InvalidChange: the plan cites another source than those before it; one that cites none cites theirs.
            TooManyChanges: the branch would have more than it may.
        """
        with self._lock:
            held = self._idle(principal, identifier)
            before = held.branch
            if principal.id != before.maker:
                raise Forbidden("only its maker adds to a branch", remedy="make one of your own with POST /what-if")
            first = before.request.episode
            if request.episode not in (None, first):
                cited = "none" if first is None else first.value
                raise InvalidChange(
                    f"a branch becomes one certificate, which cites one source: that of this one is {cited}",
                    remedy="name the same episode or none, or make another branch",
                    where="/episode",
                )
            self._require_room(size)
            plans = (*before.plans, replace(request, principal=before.maker, episode=first))
            after = replace(before, plans=plans, size=before.size + size, until=self._until())
            held.branch, held.foretold = self._checked(after), None
        return before, after

    def put_back(self, before: Branch | None, after: Branch) -> None:
        """Takes back what was made or added, unless the branch has become another meanwhile, or is being submitted."""
        with self._lock:
            held = self._held.get(after.id)
            if held is not None and held.branch is after and held.submitter is None:
                if before is None:
                    del self._held[after.id]
                else:
                    held.branch = before

    def foretell(self, branch: Branch, foretold: Foretold) -> None:
        """Keeps what a branch would come to.

        Raises:
            StateMoved: it is not held any more as it is.
        """
        with self._lock:
            held = self._held.get(branch.id)
            if held is None or held.branch is not branch:
                raise _moved()
            held.foretold = foretold

    def claim(self, principal: Principal, identifier: UUID) -> Branch:
        """The branch that somebody submits; as long as they do, nobody else does.

        Raises:
            NotFound: there is no such branch for the caller.
            StateMoved: another one is submitting it.
        """
        with self._lock:
            held = self._find(principal, identifier)
            if held.submitter not in (None, principal.id):
                raise _moved()
            if held.branch.certificate is None:
                held.submitter = principal.id
            return held.branch

    def settle(self, branch: Branch, certificate: UUID | None, *, refused: bool) -> None:
        """Notes what came of submitting a branch; refused, or without a certificate, it stays open."""
        with self._lock:
            held = self._held.get(branch.id)
            if held is None or held.branch is not branch:
                return
            held.submitter = None
            if refused:
                held.branch = replace(branch, refusals=branch.refusals + 1)
            elif certificate is not None:
                held.branch = replace(branch, plans=(), size=0, certificate=certificate)

    def one(self, principal: Principal, identifier: UUID) -> tuple[Branch, Foretold | None]:
        """A branch, and what it would have come to when that was looked at last. Raises `NotFound`."""
        with self._lock:
            held = self._find(principal, identifier)
            return held.branch, held.foretold

    def of(self, principal: Principal) -> list[Branch]:
        """Those that the caller may see, oldest first."""
        with self._lock:
            self._let_go()
            return [each.branch for each in self._held.values() if _sees(principal, each.branch)]

    def drop(self, principal: Principal, identifier: UUID) -> Branch:
        """Holds a branch no longer, and answers what it was. Raises `NotFound`; `StateMoved` amid its submission."""
        with self._lock:
            self._idle(principal, identifier)
            return self._held.pop(identifier).branch

    def forget(self) -> None:
        """Holds none any more: something was purged."""
        with self._lock:
            self._held.clear()

    # --- within the lock ----------------------------------------------------------------------------------------------

    def _find(self, principal: Principal, identifier: UUID) -> _Held:
        self._let_go()
        held = self._held.get(identifier)
        if held is None or not _sees(principal, held.branch):
            raise NotFound(
                "there is no such branch: it was dropped, its time is over, or it never was",
                remedy="list yours with GET /what-if, or make one with POST /what-if",
            )
        return held

    def _idle(self, principal: Principal, identifier: UUID) -> _Held:
        """One that nobody is submitting: what is submitted is what was held then, whole and once."""
        held = self._find(principal, identifier)
        if held.submitter is not None:
            raise StateMoved("the branch is being submitted", remedy="look at it again with GET /what-if/…")
        return held

    def _let_go(self) -> None:
        now = self._host.now()
        for identifier in [each.branch.id for each in self._held.values() if each.branch.until <= now]:
            del self._held[identifier]

    def _require_room(self, size: int) -> None:
        if size + sum(each.branch.size for each in self._held.values()) > SIZE_IN_ALL:
            raise _full()

    def _until(self) -> Instant:
        return Instant(self._host.now() + self._bounds.seconds * SECOND)

    def _checked(self, branch: Branch) -> Branch:
        count = sum(len(each.changes) for each in branch.plans)
        if count > self._bounds.changes or branch.size > self._bounds.size:
            raise TooManyChanges(
                f"a branch holds {self._bounds.changes:,} changes and {self._bounds.size:,} bytes at most; "
                f"with this plan it would have {count:,} and {branch.size:,}",
                remedy="hold less at once; or try it as a dry run of POST /changes",
                where="/changes",
            )
        _reason(branch.plans)
        return branch


def _sees(principal: Principal, branch: Branch) -> bool:
    return principal.governs or principal.id == branch.maker


def _reason(plans: tuple[Request, ...]) -> str | None:
    """Why, as far as any of the plans says so. Raises `InvalidChange` where it is more than a request may say."""
    said = [each.reason for each in plans if each.reason]
    reason = "\n".join(dict.fromkeys(said))
    if len(reason) > LONGEST_REASON:
        raise InvalidChange(
            f"the reasons of this branch come to {len(reason):,} characters",
            remedy=f"give {LONGEST_REASON:,} at most for all of its plans",
            where="/reason",
        )
    return reason or None


def _full() -> Busy:
    return Busy("too much is held in branches at present", remedy="ask again later, or try it as a dry run")


def _moved() -> StateMoved:
    return StateMoved("the branch was changed or dropped meanwhile", remedy="look at it again with GET /what-if/…")
