"""`muniment backup` and `muniment restore`: a base at one state, kept elsewhere and brought back.

Rules
-----
* A backup is made beside a base that is served. It holds the signing key: keep it as safe as the base.
* A backup since another one is small, and is restored with that and all before it.
* A restore verifies everything before the base has a name: a backup that is broken, or older than a checkpoint that is
  given, is refused with what is wrong.

Example
-------
::

    muniment backup --data data --into backups/monday
    muniment restore backups/monday --data restored --checkpoint anchor.txt
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.commands.options import AnchorFile, Data, folder, given_key, note_in, require_base
from api.commands.progress import waiting
from kernel.counting import counted


def backup(
    data: Data,
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", parser=folder, help="The folder to make: it must not be there yet.")
    ],
    since: Annotated[
        Path | None,
        typer.Option(
            "--since",
            metavar="BACKUP",
            parser=folder,
            help="An earlier backup, beside the new one: keep what changed since. It is needed to restore this one.",
        ),
    ] = None,
) -> int:
    """Back up a base, also while it is served: its ledger at one state, its key, and a checkpoint.

    Example: muniment backup --data data --into backups/tuesday --since backups/monday
    """
    from bridge.upkeep.backup import back_up

    with waiting("backing up"):
        manifest = back_up(require_base(data), into, since, given_key(data))
    gone_on = "" if since is None else f", what changed since {since.name}"
    typer.echo(f"backed up into {into}: base {manifest.base}, {counted(manifest.events, 'event')}{gone_on}")
    return 0


def restore(
    source: Annotated[
        Path, typer.Argument(metavar="BACKUP", parser=folder, help="The folder that `muniment backup` made.")
    ],
    *,
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", parser=folder, help="The base's folder: it must not be there yet.")
    ],
    checkpoint: AnchorFile = None,
    purged: Annotated[
        Path | None,
        typer.Option(
            "--purged",
            metavar="DIR",
            parser=folder,
            help="The base in a later state, or a later backup of it that stands alone: what was purged since goes.",
        ),
    ] = None,
) -> int:
    """Make a base from a backup, once everything in it is verified.

    Example: muniment restore backups/monday --data restored --checkpoint anchor.txt
    """
    from bridge.upkeep.backup import restore as restored

    with waiting("verifying and restoring"):
        manifest = restored(source, data, note_in(checkpoint), given_key(data), purged=purged)
    typer.echo(f"restored into {data}: base {manifest.base}, {counted(manifest.events, 'event')}, verified")
    return 0
