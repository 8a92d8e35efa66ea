"""`muniment audit`: whether a base is as its certificates and its log say, and if not, where.

Rules
-----
* Everything is worked out anew from stored bytes. Nothing is repaired.
* A base that is being served is audited beside the service, but for its stores, which are open there: the last line
  says so, and nothing that was not looked at is counted.
* Of many faults the first are listed; all are counted.

Example
-------
::

    muniment audit --data data --key key.json
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.options import AnchorFile, Data, given_key, note_in, public_key, require_base
from api.commands.progress import waiting
from certificates.errors import CertificateError
from kernel.errors import MunimentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.auditing.audit import Audit
    from bridge.auditing.faults import Counts

SOUND: Final = 0
FAULTS: Final = 1
NO_AUDIT: Final = 2

_LISTED: Final = 100


def audit(
    data: Data,
    *,
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

    Exit status: 0 when it is sound, 1 when there are faults, 2 when it cannot be audited.

    Example: muniment audit --data data --key key.json --checkpoint checkpoint.txt
    """
    from bridge.auditing.audit import audit as audited
    from bridge.keys import KeyPlace

    try:
        given = given_key(data)
        public = (
            public_key(key) if key is not None else None if given is None else KeyPlace.of(data, given).load().public
        )
        with waiting("auditing"):
            found = audited(require_base(data), public, note_in(checkpoint))
    except (MunimentError, CertificateError) as error:
        typer.echo(f"muniment: {error}", err=True)
        return NO_AUDIT
    except OSError as error:
        typer.echo(f"muniment: {error.filename or data}: {error.strerror}", err=True)
        return NO_AUDIT
    for line in in_words(found):
        typer.echo(line)
    return SOUND if found.sound else FAULTS


def in_words(found: Audit) -> Iterator[str]:
    """What an audit found, one line each."""
    from api.commands.tables import printable

    counts = found.counts
    anchored = "" if counts.anchored is None else f", the first {counts.anchored} held against the checkpoint"
    yield f"log         {counts.events} events{anchored}"
    yield f"signed      {counts.certificates} certificates, {counts.signatures} signatures verified"
    yield f"items       {counts.items} verified, {counts.by_commitment} more by commitment only"
    yield f"tables      {counts.facts} facts, {counts.evidence} pieces of evidence"
    yield f"stores      {_stores(counts)}"
    for note in found.notes:
        yield f"note        {printable(note)}"
    for fault in found.faults[:_LISTED]:
        yield f"fault       {printable(fault.place)}: {printable(fault.what)}"
    if found.total > _LISTED:
        yield f"            … and {found.total - _LISTED} more"
    if not found.sound:
        yield f"not sound: {found.total} faults"
    elif found.whole:
        yield "sound: everything fits together"
    else:
        yield "sound, as far as was looked at: stop the service, and audit again, for the stores"


def _stores(counts: Counts) -> str:
    """How many quads were compared, of each store that was looked at."""
    each = {"complete": counts.complete, "current": counts.current}
    if all(count is None for count in each.values()):
        return "not looked at"
    return ", ".join(
        f"{name}: {'not looked at' if count is None else f'{count} quads'}" for name, count in each.items()
    )
