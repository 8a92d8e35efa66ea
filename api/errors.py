"""The errors that only HTTP and the process know; all others are the kernel's.

Rules
-----
* They are members of the same closed set: a code, a message, a remedy, a place, and whose fault it is.

Example
-------
>>> TooLarge("the body is larger than 16 MB", remedy="use `muniment load`").code
'too-large'
"""

from __future__ import annotations

from kernel.errors import CallerError, Conflict, OperatorError


class UnknownPath(CallerError):
    """Nothing is served at the path."""

    code = "unknown-path"


class MethodNotAllowed(CallerError):
    """The path is served, but not with this method."""

    code = "method-not-allowed"


class UnsupportedMediaType(CallerError):
    """A body of a format, charset or coding that the route does not read."""

    code = "unsupported-media-type"


class TooLarge(CallerError):
    """A body beyond the limit."""

    code = "too-large"


class HeadTooLarge(CallerError):
    """A request's line and headers beyond the limit."""

    code = "head-too-large"


class UnreadableRequest(CallerError):
    """What came is no request of HTTP."""

    code = "unreadable-request"


class TooSlow(CallerError):
    """A request that does not come in time."""

    code = "too-slow"


class TooManyConnections(CallerError):
    """More clients at a time than are served."""

    code = "too-many-connections"


class RateLimited(CallerError):
    """More requests than whoever sends them may send in a time; `seconds` says when the next one may come."""

    code = "rate-limited"


class TooManyAttempts(CallerError):
    """Too much of what failed, in too short a time."""

    code = "too-many-attempts"


class StateNotCited(Conflict):
    """A write of a caller that has to cite what it read, and does not."""

    code = "state-not-cited"


class ForgedForm(CallerError):
    """A form that no page of ours is known to have sent."""

    code = "forged-form"


class BrokenOff(CallerError):
    """The connection ended before the body did."""

    code = "broken-off"


class RemoteRefusal(CallerError):
    """A service that was asked cannot be reached, or refuses."""

    code = "remote-refusal"


class InvalidSetting(OperatorError):
    """A setting that is unknown or cannot be used."""

    code = "invalid-setting"


class ForeignPackage(OperatorError):
    """A package that Python finds under one of our names is not ours."""

    code = "foreign-package"
