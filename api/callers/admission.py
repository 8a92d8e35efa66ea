"""What every route of the API depends on besides its caller: that this one does not ask too often.

Rules
-----
* It comes after the caller is known, and before anything is done for them (`api.callers.rate_limits`).
* Not for what is asked without a token: health, the OpenAPI document, signing in.
* Pages have a gate like it, for visitors: `api.pages.admission`.

Example
-------
::

    app.include_router(facts.router, dependencies=[ADMITTED])
"""

from __future__ import annotations

from typing import Final

from fastapi import Depends
from starlette.requests import Request

from api.callers.auth import Caller
from api.callers.rate_limits import address_of, rates_of


async def _admitted(request: Request, caller: Caller) -> None:
    rates_of(request).admit(caller, address_of(request))


ADMITTED: Final = Depends(_admitted)
"""Of routes of the API."""
