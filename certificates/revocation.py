"""Why a key is revoked, in the words of OpenID Federation 1.0 (section 8.7.3) for keys of the past.

Example
-------
>>> RevocationReason("compromised")
<RevocationReason.COMPROMISED: 'compromised'>
"""

from __future__ import annotations

from enum import StrEnum


class RevocationReason(StrEnum):
    """Why a key is not to be trusted any more."""

    UNSPECIFIED = "unspecified"
    COMPROMISED = "compromised"
    SUPERSEDED = "superseded"
