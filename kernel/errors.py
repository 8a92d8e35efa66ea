"""The closed set of errors that Muniment raises.

Rules
-----
* Every error says whose fault it is (`Blame`), has a stable `code`, a message that names what is wrong, a `remedy` (the
  way out), an optional `where` (line, JSON pointer, parameter or statement) and `data` for programs.
* Nothing that a library raises crosses a port: adapters translate into one of these.
* The HTTP status of an error is the API's business, keyed by class.

Example
-------
>>> error = NothingToEnd("no believed fact holds then", remedy="check the time given as `at`", where="/changes/0")
>>> error.code, error.blame.value, error.where
('nothing-to-end', 'caller', '/changes/0')
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class Blame(StrEnum):
    """Who has to act: the caller mends the request, or the operator mends the service."""

    CALLER = "caller"
    OURS = "ours"


class MunimentError(Exception):
    """Base of every error.

    Args:
        message: what is wrong, in one sentence that a person understands.
        remedy: what to do about it.
        where: the place: a field, JSON pointer, line or statement; None when the whole request is meant.
        data: further members for programs; strings, integers, or lists of them.
    """

    code: ClassVar[str] = "error"
    blame: ClassVar[Blame] = Blame.OURS

    def __init__(self, message: str, *, remedy: str, where: str | None = None, **data: object) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.where = where
        self.data = data

    def __str__(self) -> str:
        """The message, its place and the way out, on one line."""
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.message} ({self.remedy})"


class CallerError(MunimentError):
    """The request is at fault; sending it again unchanged fails again."""

    code = "bad-request"
    blame = Blame.CALLER


class InvalidTime(CallerError):
    """A time that cannot be read, or that does not exist."""

    code = "invalid-time"


class InvalidInterval(CallerError):
    """An interval that is empty or inverted."""

    code = "invalid-interval"


class InvalidTerm(CallerError):
    """An IRI, literal or language tag that RDF does not allow."""

    code = "invalid-term"


class InvalidDocument(CallerError):
    """A body that its format's parser refuses, or that holds what may not be written."""

    code = "invalid-document"


class InvalidChange(CallerError):
    """A change with missing, unknown or contradictory members."""

    code = "invalid-change"


class InvalidQuery(CallerError):
    """A registered query that nobody could register as it is."""

    code = "invalid-query"


class UnknownParameter(CallerError):
    """A parameter, filter or key that nothing here knows: never ignored, never "all"."""

    code = "unknown-parameter"


class InvalidParameter(CallerError):
    """A parameter with a value that cannot be used."""

    code = "invalid-parameter"


class PlanError(CallerError):
    """A change that is well formed but cannot be planned against the state of the base."""

    code = "cannot-plan"


class NothingToEnd(PlanError):
    """No believed fact of the statement holds at the instant given."""

    code = "nothing-to-end"


class EndsAtStart(PlanError):
    """Ending a fact at its own start would leave it no time at all: that is a retraction."""

    code = "ends-at-start"


class NothingToRetract(PlanError):
    """No believed fact of the statement, or none within the interval given."""

    code = "nothing-to-retract"


class NothingToRevise(PlanError):
    """A revision that changes neither value nor interval."""

    code = "nothing-to-revise"


class NothingToRevert(PlanError):
    """A certificate that did nothing which can be undone."""

    code = "nothing-to-revert"


class Overlap(PlanError):
    """A revision onto an interval in which another fact of the same statement is believed."""

    code = "overlap"


class ReservedGraph(PlanError):
    """A valid time on a graph that has transaction time only."""

    code = "reserved-graph"


class ReservedTerm(PlanError):
    """A term of a vocabulary that graphs are read by, where it cannot be spared."""

    code = "reserved-term"


class TooManyChanges(PlanError):
    """A request that changes more statements than one plan takes."""

    code = "too-many-changes"


class StaleFact(PlanError):
    """The fact named is no longer believed."""

    code = "stale-fact"


class WasPurged(PlanError):
    """A statement, node, episode or graph that was purged, and may not be written again."""

    code = "purged"


class NothingToPurge(PlanError):
    """Nothing is held of what is to be purged."""

    code = "nothing-to-purge"


class Conflict(CallerError):
    """The request does not fit the state that the thing it names is in."""

    code = "conflict"


class PreconditionFailed(Conflict):
    """What is to be written is not as the request says that it has to be."""

    code = "precondition-failed"


class AlreadyDecided(Conflict):
    """The certificate is not waiting for a decision."""

    code = "not-in-review"


class PreviewOutdated(Conflict):
    """What a purge would take is not what was previewed any more."""

    code = "preview-outdated"


class GraphExists(Conflict):
    """A graph that is to be created, and that holds something already."""

    code = "graph-exists"


class StateMoved(Conflict):
    """The base moved on while something was worked out for one of its states."""

    code = "state-moved"


class IdempotencyMismatch(CallerError):
    """An idempotency key that was used before, with another body."""

    code = "idempotency-mismatch"


class NotFound(CallerError):
    """Nothing of that name that the caller may see."""

    code = "not-found"


class Unauthenticated(CallerError):
    """No credential, or one that is unknown, expired or revoked."""

    code = "unauthenticated"


class Forbidden(CallerError):
    """The caller's role or graphs do not allow it."""

    code = "forbidden"


class QueryRefused(CallerError):
    """A query that cannot be parsed, or that asks for what is not served (SERVICE, LOAD)."""

    code = "query-refused"


class QueryLimit(CallerError):
    """A query that takes more time or memory, or has a larger answer, than its caller may have."""

    code = "query-limit"


class Busy(CallerError):
    """More is asked than can be answered at once: the same request may be sent again later."""

    code = "busy"


class NotReached(CallerError):
    """The state that the request insists on was not reached in time."""

    code = "not-reached"


class NotAcceptable(CallerError):
    """No format that the caller accepts can be produced."""

    code = "not-acceptable"


class CannotSign(CallerError):
    """What is asked for can be given, but not under a signature that others could verify."""

    code = "cannot-sign"


class BackupRefused(CallerError):
    """A backup that is not what it says it is, or older than it should be."""

    code = "backup-refused"


class OperatorError(MunimentError):
    """The service is at fault; the same request may succeed once the operator has acted."""

    code = "unavailable"


class ClockAhead(OperatorError):
    """The last transaction instant lies further ahead of the host's clock than a restart explains."""

    code = "clock-ahead"


class LedgerUnavailable(OperatorError):
    """The ledger cannot be read or written."""

    code = "ledger-unavailable"


class ReadOnly(LedgerUnavailable):
    """The ledger takes no writes at present, and is read as before; `cause` says why, in a word."""

    code = "read-only"


class StoreUnavailable(OperatorError):
    """A store cannot be opened, read or brought up to the ledger."""

    code = "store-unavailable"


class BaseInUse(OperatorError):
    """Another process holds the base."""

    code = "base-in-use"


class DamagedBase(OperatorError):
    """What is on disk does not fit together, or has a format of another version."""

    code = "damaged-base"


class ShuttingDown(OperatorError):
    """The base is closing and takes no more writes."""

    code = "shutting-down"
