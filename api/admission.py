"""What every route of the API and every page depends on besides its caller: that this one does not ask too often.

Rules
-----
* It comes after the caller is known, and before anything is done for them (`api.rate_limits`).
* Not for what is asked without a token: health, the OpenAPI document, signing in.

Example
-------
::

    app.include_router(facts.router, dependencies=[ADMITTED])
"""

from __future__ import annotations

from typing import Final

from fastapi import Depends
from starlette.requests import Request

from api.auth import Caller
from api.pages.visiting import Visitor
from api.rate_limits import address_of, rates_of


async def _admitted(request: Request, caller: Caller) -> None:
    rates_of(request).admit(caller, address_of(request))


async def _admitted_visitor(request: Request, visitor: Visitor) -> None:
    rates_of(request).admit(visitor.principal, address_of(request))


ADMITTED: Final = Depends(_admitted)
"""Of routes of the API."""

ADMITTED_VISITOR: Final = Depends(_admitted_visitor)
"""Of pages."""
