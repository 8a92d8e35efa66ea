"""`muniment audit`: whether a base is as its certificates and its log say, and if not, where.

Rules
-----
* Everything is worked out anew from stored bytes. Nothing is repaired.
* A base that is being served is audited beside the service, but for its stores, which are open there: the last line
  says so, and nothing that was not looked at is counted.
* Of many faults the first are listed; all are counted.
* A service is audited from afar by what it serves: its log, its keys and its certificates, as far as the token goes. It
  is said what could not be looked at.

Example
-------
::

    muniment audit --data data --key key.json
    muniment audit --url https://kg.example.org --key key.json --token-file token
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.options import (
    AnchorFile,
    MaybeData,
    MaybeUrl,
    TokenEnv,
    TokenFile,
    folder_or_url,
    given_key,
    named_token,
    note_in,
    public_key,
    require_base,
)
from api.commands.progress import waiting
from certificates.errors import CertificateError
from kernel.counting import counted
from kernel.errors import InvalidParameter, MunimentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.auditing.audit import Audit
    from bridge.auditing.faults import Counts

SOUND: Final = 0
FAULTS: Final = 1
NO_AUDIT: Final = 2

_LISTED: Final = 100


def audit(
    data: MaybeData = None,
    *,
    url: MaybeUrl = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="The base's public key from elsewhere: a Multikey document, or its z6Mk… text alone.",
        ),
    ] = None,
    checkpoint: AnchorFile = None,
) -> int:
    """Work out anew everything that a base holds, and list what does not fit together.

    With --url, a service is audited by what it serves, with a key of it that you know.

    Exit status: 0 when it is sound, 1 when there are faults, 2 when it cannot be audited.

    Example: muniment audit --data data --key key.json --checkpoint checkpoint.txt
    """
    asked = folder_or_url(data, url, token=bool(token_env or token_file))
    try:
        with waiting("auditing"):
            if isinstance(asked, str):
                found = _from_afar(asked, named_token(token_env, token_file), key, note_in(checkpoint))
            else:
                found = _of_folder(asked, key, note_in(checkpoint))
    except (MunimentError, CertificateError) as error:
        typer.echo(f"muniment: {error}", err=True)
        return NO_AUDIT
    except OSError as error:
        typer.echo(f"muniment: {error.filename or asked}: {error.strerror}", err=True)
        return NO_AUDIT
    for line in in_words(found):
        typer.echo(line)
    return SOUND if found.sound else FAULTS


def _of_folder(data: Path, key: Path | None, checkpoint: str | None) -> Audit:
    from bridge.auditing.audit import audit as audited
    from bridge.signing.keys import KeyPlace

    given = given_key(data)
    public = None if given is None else KeyPlace.of(data, given).load().public
    return audited(require_base(data), public if key is None else public_key(key), checkpoint)


def _from_afar(url: str, token: str | None, key: Path | None, checkpoint: str | None) -> Audit:
    from api.commands.remote.connection import fetching
    from bridge.auditing.afar import audit_from_afar

    if key is None:
        raise InvalidParameter(
            "a service is audited with a key that you know", remedy="give one that it has, or had", where="--key"
        )
    with fetching(url, token) as fetch:
        return audit_from_afar(fetch, public_key(key), checkpoint)


def in_words(found: Audit) -> Iterator[str]:
    """What an audit found, one line each."""
    from api.commands.tables import printable

    counts = found.counts
    anchored = "" if counts.anchored is None else f", the first {counts.anchored} held against the checkpoint"
    yield f"log         {counted(counts.events, 'event')}{anchored}"
    signed = counted(counts.certificates, "certificate")
    yield f"signed      {signed}, {counted(counts.signatures, 'signature')} verified"
    yield f"items       {counts.items} verified, {counts.by_commitment} more by commitment only"
    if not found.afar:
        evidence = counted(counts.evidence, "piece of evidence", "pieces of evidence")
        yield f"tables      {counted(counts.facts, 'fact')}, {evidence}"
        yield f"stores      {_stores(counts)}"
    for note in found.notes:
        yield f"note        {printable(note)}"
    for fault in found.faults[:_LISTED]:
        yield f"fault       {printable(fault.place)}: {printable(fault.what)}"
    if found.total > _LISTED:
        yield f"            … and {found.total - _LISTED} more"
    if not found.sound:
        yield f"not sound: {counted(found.total, 'fault')}"
    elif found.whole:
        yield "sound: everything fits together"
    elif found.afar:
        yield "sound, as far as can be told from afar"
    else:
        yield "sound, as far as was looked at: stop the service, and audit again, for the stores"


def _stores(counts: Counts) -> str:
    """How many quads were compared, of each store that was looked at."""
    each = {"complete": counts.complete, "current": counts.current}
    if all(count is None for count in each.values()):
        return "not looked at"
    return ", ".join(
        f"{name}: {'not looked at' if count is None else counted(count, 'quad')}" for name, count in each.items()
    )
