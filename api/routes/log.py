"""`/log`: the transparency log of the base, for whoever checks it.

Rules
-----
* Checkpoint, tiles and entries lie where C2SP tlog-tiles has them, so that any client of such logs can follow this.
  A tile never changes, and may be kept for ever; the checkpoint is the one of now.
* Proofs are files that stand by themselves: of inclusion as C2SP tlog-proof has it, the entry being its extra data; of
  consistency as a witness takes it. Each ends with the checkpoint that it leads to.

Example
-------
::

    GET /log/checkpoint → 200 w3id.org/muniment/log/…
    GET /log/tile/0/000.p/7 → 200, 7 × 32 bytes
    GET /log/proof/inclusion?certificate=urn:uuid:…&event=applied → 200 c2sp.org/tlog-proof@v1
    GET /log/proof/consistency?from=7 → 200 old 7
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api.callers.auth import BEARER, Caller
from api.http.openapi import Answer, answers, extra, text_content
from api.http.parameters import Parameter, Parameters, query_parameters
from api.routes.certificates import certificate_named
from api.service import Service
from bridge.signing.log import LoggedEvent
from certificates.errors import InvalidValue
from certificates.tiles import Tile, parse_bundle, parse_tile
from kernel.errors import InvalidParameter, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from certificates.log_proofs import InclusionProof
    from kernel.access import Principal

_TEXT: Final = "text/plain; charset=utf-8"
_BYTES: Final = "application/octet-stream"
_FOR_EVER: Final = {"Cache-Control": "private, max-age=31536000, immutable"}
_NOW: Final = {"Cache-Control": "no-cache"}
_SIZE: Final[dict[str, object]] = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}

POSITION: Final = Parameter("position", "of the entry, from 0", _SIZE, "41")
CERTIFICATE: Final = Parameter(
    "certificate", "whose entry", {"type": "string"}, "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057"
)
EVENT: Final = Parameter(
    "event",
    "which entry of the certificate",
    {"type": "string", "enum": [each.value for each in LoggedEvent], "default": LoggedEvent.ISSUED.value},
    "applied",
)
SIZE: Final = Parameter("size", "of the log that the proof leads to; by default as it is", _SIZE, "100")
FROM: Final = Parameter("from", "the size of the older log", _SIZE, "7", required=True)
TO: Final = Parameter("to", "the size of the newer log; by default as it is", _SIZE, "100")
_INCLUSION: Final = (POSITION, CERTIFICATE, EVENT, SIZE)
_CONSISTENCY: Final = (FROM, TO)

TilePath = Annotated[str, Path(description="level and index of a tile, as C2SP tlog-tiles writes them")]
BundlePath = Annotated[str, Path(description="index of a bundle, as C2SP tlog-tiles writes it")]

router = APIRouter(prefix="/log", tags=["log"])


@router.get(
    "/checkpoint",
    operation_id="getCheckpoint",
    dependencies=[BEARER],
    summary="The signed state of the log",
    response_class=Response,
    responses=answers(
        {200: Answer("The checkpoint, a signed note", text_content(["text/plain"]))}, problems=(400, 401, 503)
    ),
    openapi_extra=extra(),
)
async def checkpoint(request: Request) -> Response:
    """Gives the checkpoint of the last commit. Keep it elsewhere: it shows if the base is ever put back."""
    query_parameters(request, ())
    service = Service.of(request)
    return Response(await service.read(service.log.checkpoint), 200, {"Content-Type": _TEXT, **_NOW})


@router.get(
    "/tile/entries/{path:path}",
    operation_id="getLogEntries",
    summary="A bundle of entries of the log",
    response_class=Response,
    responses=answers({200: Answer("The entries", text_content([_BYTES]))}, problems=(400, 401, 403, 404, 503)),
    openapi_extra=extra(),
)
async def entries(request: Request, caller: Caller, path: BundlePath) -> Response:
    """Gives up to 256 entries, each after its length in two bytes; to those who may read every graph."""
    return await _static(request, parse_bundle, path, lambda tile: Service.of(request).log.entries(caller, tile))


@router.get(
    "/tile/{path:path}",
    operation_id="getLogTile",
    dependencies=[BEARER],
    summary="A tile of the log's Merkle tree",
    response_class=Response,
    responses=answers({200: Answer("The hashes", text_content([_BYTES]))}, problems=(400, 401, 404, 503)),
    openapi_extra=extra(),
)
async def tile(request: Request, path: TilePath) -> Response:
    """Gives up to 256 hashes of 32 bytes, one after another."""
    return await _static(request, parse_tile, path, Service.of(request).log.tile)


@router.get(
    "/proof/inclusion",
    operation_id="proveInclusion",
    summary="That an entry is in the log",
    response_class=Response,
    responses=answers(
        {200: Answer("The proof, with entry and checkpoint", text_content(["text/plain"]))},
        problems=(400, 401, 403, 404, 503),
    ),
    openapi_extra=extra(parameters=_INCLUSION),
)
async def prove_inclusion(request: Request, caller: Caller) -> Response:
    """Proves that a certificate was logged as issued, or as applied; or whatever entry stands at a position."""
    service = Service.of(request)
    wanted = _wanted(query_parameters(request, _INCLUSION), caller, service)
    return Response((await service.read(wanted)).text, 200, {"Content-Type": _TEXT, **_NOW})


@router.get(
    "/proof/consistency",
    operation_id="proveConsistency",
    dependencies=[BEARER],
    summary="That the log only grew",
    response_class=Response,
    responses=answers(
        {200: Answer("The proof, with the newer checkpoint", text_content(["text/plain"]))},
        problems=(400, 401, 404, 503),
    ),
    openapi_extra=extra(parameters=_CONSISTENCY),
)
async def prove_consistency(request: Request) -> Response:
    """Proves that the log begins with what it was at an older size."""
    parameters = query_parameters(request, _CONSISTENCY)
    old, size = _optional(parameters, FROM), _optional(parameters, TO)
    if old is None:
        raise InvalidParameter("it is missing", remedy="give the size of the older checkpoint", where=FROM.name)
    service = Service.of(request)
    proof = await service.read(lambda: service.log.consistency(old, size))
    return Response(proof.text, 200, {"Content-Type": _TEXT, **_NOW})


async def _static(request: Request, parse: Callable[[str], Tile], path: str, read: Callable[[Tile], bytes]) -> Response:
    query_parameters(request, ())
    try:
        named = parse(path)
    except InvalidValue as error:
        raise NotFound(error.message, remedy=error.remedy, where="path") from None
    return Response(await Service.of(request).read(lambda: read(named)), 200, {"Content-Type": _BYTES, **_FOR_EVER})


def _wanted(parameters: Parameters, caller: Principal, service: Service) -> Callable[[], InclusionProof]:
    """How to make the proof that is asked for."""
    certificate, position = parameters.text(CERTIFICATE), _optional(parameters, POSITION)
    size, event = _optional(parameters, SIZE), parameters.choice(EVENT, LoggedEvent)
    if certificate is not None and position is None:
        identifier = certificate_named(certificate)
        return lambda: service.log.of_certificate(caller, identifier, event or LoggedEvent.ISSUED, size)
    if position is not None and certificate is None and event is None:
        return lambda: service.log.inclusion(caller, position, size)
    said = "it does not say which entry" if certificate is None and position is None else "a position stands alone"
    raise InvalidParameter(said, remedy="give a certificate, and with it an event; or a position alone")


def _optional(parameters: Parameters, parameter: Parameter) -> int | None:
    return None if parameters.text(parameter) is None else parameters.number(parameter, default=0)
