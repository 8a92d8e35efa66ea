"""The JSON of the service itself: its health, and its problem documents.

Example
-------
>>> health: Health = {"status": "ok", "reason": None, "head": 7, "clock": "…", "behind": False}
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from api.models.values import Instant, Position

HealthStatus = Literal["ok", "read-only", "unavailable"]
HealthReason = Annotated[
    Literal[
        "disk-full", "ledger-locked", "ledger-unwritable", "ledger-unreadable", "stores-behind", "store-unreadable"
    ],
    Field(description="what is wrong"),
]


class Health(TypedDict):
    """Whether the service can answer. Head and clock are null where the ledger cannot be read, and without a token."""

    status: HealthStatus
    reason: HealthReason | None
    head: Position | None
    clock: Instant | None
    behind: Annotated[bool, Field(description="whether the stores have not yet followed the ledger")]
    mode: NotRequired[Annotated[str, Field(description="how the service was started, unless that is standard")]]


class Problem(TypedDict):
    """A problem document (RFC 9457). Further members may follow, by code."""

    type: Annotated[str, Field(description="an IRI that goes with the code")]
    title: str
    status: int
    detail: Annotated[str, Field(description="what is wrong, for people")]
    code: Annotated[str, Field(description="what is wrong, for programs", examples=["nothing-to-end"])]
    where: NotRequired[Annotated[str, Field(description="the place: a header, parameter, JSON pointer or line")]]
    remedy: Annotated[str, Field(description="what to do about it")]
    requestId: Annotated[str, Field(description="under which the service's log has the request")]
