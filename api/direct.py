"""Routes that are asked most: called with request and caller, past the framework's solving of what they depend on.

Rules
-----
* Solving takes 0.2 ms of a write, which is a tenth, and finds each time what is known beforehand: who calls, and that
  they do not ask too often. Both are asked for here, as everywhere (`api.auth`, `api.admission`).
* Path, methods and description are those of any other route. What else its router is included with
  (`dependencies=…`) is described and not asked for: a new gate for all routes has to be put here as well.

Example
-------
::

    router = APIRouter(route_class=DirectRoute)

    @router.post("/changes", …)
    async def change(request: Request, caller: Caller) -> Response: …
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Final

from fastapi.routing import APIRoute

from api.auth import BearerToken
from api.rate_limits import address_of, rates_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

_TAKEN: Final = ["request", "caller"]


class DirectRoute(APIRoute):
    """A route whose endpoint takes `request` and `caller`, and nothing else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What is called for a request."""
        if list(signature(self.endpoint).parameters) != _TAKEN:
            raise TypeError(f"{self.path} takes more than {' and '.join(_TAKEN)}")
        endpoint, named = self.endpoint, BearerToken()

        async def handle(request: Request) -> Response:
            caller = await named(request)
            rates_of(request).admit(caller, address_of(request))
            answer: Response = await endpoint(request, caller)
            return answer

        return handle
