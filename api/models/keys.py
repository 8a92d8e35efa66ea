"""The JSON of a base's keys as they change.

Example
-------
>>> revoked: Revocation = {"since": "2026-05-06T07:08:09Z"}
"""

from __future__ import annotations

from typing import NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from api.models.values import Instant, Multibase
from certificates.revocation import RevocationReason


class KeyRotation(TypedDict):
    """That a base signs with another key from now on."""

    key: Multibase
    previous: Multibase
    at: Instant


class KeyRevocation(TypedDict):
    """That a key which was rotated away is not to be trusted since an instant."""

    key: Multibase
    since: Instant
    reason: RevocationReason
    at: Instant


@with_config(ConfigDict(extra="forbid"))
class Revocation(TypedDict):
    """Since when a key is not to be trusted, and why; this is a request."""

    since: Instant
    reason: NotRequired[RevocationReason]
