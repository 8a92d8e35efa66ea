"""Scripts of other origins: what browsers let them read (the CORS protocol of the Fetch standard, section 3.2).

Rules
-----
* Nothing, unless the settings name origins. Then their scripts may send any method, and read the headers that say of
  which state an answer is and where a certificate lies.
* Never with credentials: a browser sends no cookie along, and what a script reads it reads with a token that it has. So
  the pages for editors are open to nobody, `*` or not.

Example
-------
::

    add_cross_origin(app, ("https://yasgui.example.org",))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.middleware.cors import CORSMiddleware

if TYPE_CHECKING:
    from fastapi import FastAPI

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
SENT: Final = (
    *("Accept", "Accept-Datetime", "Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match"),
    *("Muniment-Min-Head", "Muniment-Read-State", "Prefer", "X-Request-Id"),
)
READ: Final = (
    *("Content-Location", "ETag", "Link", "Location", "Memento-Datetime"),
    *("Muniment-Head", "Muniment-Hint", "Muniment-Read-State", "Muniment-Valid-At"),
    *("Retry-After", "WWW-Authenticate", "X-Request-Id"),
)
REMEMBERED: Final = 600
"""Seconds for which a browser need not ask again what is allowed."""


def add_cross_origin(app: FastAPI, origins: tuple[str, ...]) -> None:
    """Lets scripts of the origins, or of all for `*`, read what the application answers."""
    app.add_middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_credentials=False,
        allow_methods=METHODS,
        allow_headers=SENT,
        expose_headers=READ,
        max_age=REMEMBERED,
    )
