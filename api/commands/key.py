"""`muniment key`: the public key of a base, for those who verify its certificates.

Example
-------
::

    muniment key --data data > key.json
"""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from api.commands.options import Data, require_base

if TYPE_CHECKING:
    from pathlib import Path

    from certificates.keys import VerifyingKey


def key(
    data: Data,
    *,
    multibase: Annotated[bool, typer.Option("--multibase", help="Print the z6Mk… text alone.")] = False,
    log: Annotated[
        bool, typer.Option("--log", help="Print it as followers and witnesses of the log take it: name, id and key.")
    ] = False,
) -> int:
    """Print the public key of a base, as a Multikey document.

    Works while a server runs on the same folder.

    Example: muniment key --data data > key.json
    """
    from bridge.base import SIGNING_KEY
    from certificates.keys import SigningKey

    if multibase and log:
        raise typer.BadParameter("--multibase and --log are two ways to print one key: give one of them")
    public = SigningKey.load(require_base(data) / SIGNING_KEY).public
    if log:
        typer.echo(_of_log(data, public))
    else:
        typer.echo(public.multibase if multibase else json.dumps(public.multikey(), indent=2))
    return 0


def _of_log(data: Path, key: VerifyingKey) -> str:
    """The key under the name of the base's log (C2SP signed-note, verifier keys)."""
    from bridge.host import SystemClock
    from bridge.ledger.sqlite import SqliteLedger
    from certificates.checkpoints import origin_of
    from certificates.notes import NoteKey

    with closing(SqliteLedger.open(data / "ledger.sqlite", SystemClock())) as ledger:
        return NoteKey(origin_of(ledger.base_id()), key).vkey
