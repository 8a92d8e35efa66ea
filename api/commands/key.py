"""`muniment key`: the keys of a base, for those who verify its certificates and for whoever runs it.

Rules
-----
* Printing and listing work while a server runs on the same folder. `rotate` and `revoke` hold the base; where it is
  served, the service is asked to do it (`--url`).

Example
-------
::

    muniment key --data data > key.json
    muniment key rotate --data data > key.json
    muniment key rotate --url http://127.0.0.1:8350 --token-file token > key.json
    muniment key revoke z6Mk… --data data --since 2026-05-06T00:00:00Z --reason compromised
    muniment key list --data data
"""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from api.commands.careful import careful
from api.commands.options import (
    DATA_VARIABLE,
    Data,
    MaybeData,
    MaybeUrl,
    TokenEnv,
    TokenFile,
    folder_or_url,
    given_key,
    named_token,
    require_base,
)
from certificates.revocation import RevocationReason

if TYPE_CHECKING:
    from pathlib import Path

    from certificates.key_history import HeldKey
    from certificates.keys import VerifyingKey

key = typer.Typer(invoke_without_command=True)


@key.callback()
def show(
    context: typer.Context,
    data: MaybeData = None,
    *,
    multibase: Annotated[bool, typer.Option("--multibase", help="Print the z6Mk… text alone.")] = False,
    log: Annotated[
        bool, typer.Option("--log", help="Print it as followers and witnesses of the log take it: name, id and key.")
    ] = False,
) -> int:
    """Print the public key of a base, as a Multikey document; or list, rotate and revoke its keys.

    Works while a server runs on the same folder.

    Example: muniment key --data data > key.json
    """
    if context.invoked_subcommand is None:
        return careful(_print)(data, multibase=multibase, log=log)
    if data is not None or multibase or log:
        raise typer.BadParameter(f"options stand after the command: muniment key {context.invoked_subcommand} --data …")
    return 0


@key.command("list")
@careful
def list_keys(data: Data) -> int:
    """List the keys that a base has signed with, the oldest first.

    Works while a server runs on the same folder.

    Example: muniment key list --data data
    """
    from bridge.host import SystemClock
    from bridge.ledger.sqlite import SqliteLedger
    from bridge.signing.keys import key_history

    with closing(SqliteLedger.open(require_base(data) / "ledger.sqlite", SystemClock())) as ledger:
        history = key_history(ledger)
    for held in history.keys:
        typer.echo(f"{held.key.multibase}  {_standing(held)}")
    return 0


@key.command()
@careful
def rotate(
    data: MaybeData = None, url: MaybeUrl = None, token_env: TokenEnv = None, token_file: TokenFile = None
) -> int:
    """Sign with a new key from now on, and print it as a Multikey document. The log says so, signed with both keys.

    A service that runs is asked with --url, by an administrator. The old private key is gone afterwards; what it signed
    stays good.

    Example: muniment key rotate --url http://127.0.0.1:8350 --token-file token > key.json
    """
    from certificates.keys import VerifyingKey

    asked = folder_or_url(data, url, token=bool(token_env or token_file))
    if isinstance(asked, str):
        from api.commands.remote.administering import change_key

        told = change_key(asked, named_token(token_env, token_file), "/keys/rotate", None)
        new, before = VerifyingKey.from_multikey(told["key"]), told["previous"]
    else:
        from bridge.host import SystemClock
        from bridge.signing.keys import rotate as rotate_key

        event = rotate_key(require_base(asked), SystemClock(), given_key(asked))
        new, before = event.key, event.previous.multibase
    typer.echo(json.dumps(new.multikey(), indent=2))
    typer.echo(f"{before} signs no more", err=True)
    return 0


@key.command()
@careful
def revoke(
    multibase: Annotated[str, typer.Argument(metavar="KEY", help="Its z6Mk… text, as `key list` shows it.")],
    *,
    since: Annotated[
        str,
        typer.Option("--since", metavar="TIME", help="From when on others may have used it, as 2026-05-06T00:00:00Z."),
    ],
    reason: Annotated[RevocationReason, typer.Option("--reason", help="Why.")] = RevocationReason.UNSPECIFIED,
    data: MaybeData = None,
    url: MaybeUrl = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
) -> int:
    """Tell the log that a key which was rotated away is not to be trusted since an instant.

    What the log held before that instant stays good. A service that runs is asked with --url, by an administrator.

    Example: muniment key revoke z6Mk… --data data --since 2026-05-06T00:00:00Z
    """
    from certificates.keys import VerifyingKey
    from kernel.time.instants import parse_instant

    named, instant = VerifyingKey.from_multikey(multibase), parse_instant(since, field="--since")
    asked = folder_or_url(data, url, token=bool(token_env or token_file))
    if isinstance(asked, str):
        from api.commands.remote.administering import change_key

        members = {"since": since, "reason": reason.value}
        told = change_key(asked, named_token(token_env, token_file), f"/keys/{named.multibase}/revoke", members)
        revoked = told["since"]
    else:
        from bridge.host import SystemClock
        from bridge.signing.keys import revoke as revoke_key

        revoked = revoke_key(
            require_base(asked), named, instant, reason, SystemClock(), given_key(asked)
        ).since  # fmt: skip
    typer.echo(f"revoked {named.multibase} since {revoked}: {reason.value}", err=True)
    return 0


def _print(data: Path | None, *, multibase: bool, log: bool) -> int:
    from bridge.signing.keys import KeyPlace

    if multibase and log:
        raise typer.BadParameter("--multibase and --log are two ways to print one key: give one of them")
    folder = _named(data)
    public = KeyPlace.of(require_base(folder), given_key(folder)).load().public
    if log:
        typer.echo(_of_log(folder, public))
    else:
        typer.echo(public.multibase if multibase else json.dumps(public.multikey(), indent=2))
    return 0


def _named(data: Path | None) -> Path:
    """The folder, by the option or else by the environment."""
    import os
    from pathlib import Path

    named = data or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    if named is None:
        raise typer.BadParameter(f"name the folder in which the base lies, or set {DATA_VARIABLE}", param_hint="--data")
    return named


def _standing(held: HeldKey) -> str:
    if held.rotated is None:
        return "signs now"
    until = f"signed what is logged before position {held.rotated}"
    if held.revoked is None:
        return until
    return f"{until}; revoked since {held.revoked.since}: {held.revoked.reason.value}"


def _of_log(data: Path, public: VerifyingKey) -> str:
    """The key under the name of the base's log (C2SP signed-note, verifier keys)."""
    from bridge.host import SystemClock
    from bridge.ledger.sqlite import SqliteLedger
    from certificates.checkpoints import origin_of
    from certificates.notes import NoteKey

    with closing(SqliteLedger.open(data / "ledger.sqlite", SystemClock())) as ledger:
        return NoteKey(origin_of(ledger.base_id()), public).vkey
