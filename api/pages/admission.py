"""What every page depends on besides its visitor: that this one does not ask too often (`api.callers.rate_limits`).

Example
-------
::

    app.include_router(queue.router, dependencies=[ADMITTED_VISITOR])
"""

from __future__ import annotations

from typing import Final

from fastapi import Depends
from starlette.requests import Request

from api.callers.rate_limits import address_of, rates_of
from api.pages.visiting import Visitor


async def _admitted_visitor(request: Request, visitor: Visitor) -> None:
    rates_of(request).admit(visitor.principal, address_of(request))


ADMITTED_VISITOR: Final = Depends(_admitted_visitor)
"""Of pages."""
