"""`muniment token`: who may use the service.

Rules
-----
* A token is `mnt_` and 256 random bits in URL-safe base64 (RFC 4648, section 5).
* It is shown once, when it is made: alone on standard output, so that a script can take it. Only its hash is kept.
* `create` makes a base where there is none, for the first token may be wanted before the first start; it says so. The
  others do not.
* These commands work while a server runs on the same folder: what they change holds from the next request on.

Example
-------
::

    TOKEN=$(muniment token create --data data --role writer --graph https://example.org/g)
    muniment token list --data data
    muniment token revoke writer-6f0c1b7a --data data
"""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.careful import careful
from api.commands.options import LEDGER, Data, iri_option, require_base
from kernel.access import Principal, Role
from kernel.errors import InvalidParameter
from kernel.instants import DAY, Instant, print_instant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bridge.ledger.certificate_rows import PrincipalRecord
    from bridge.ledger.sqlite import SqliteLedger

SCANNED_PREFIX: Final = "mnt_"
"""Lets scanners for secrets find a token that has strayed."""

TOKEN_BYTES: Final = 32

_NAME: Final = re.compile(r"[\w.@:+-]{1,100}")

token = typer.Typer(
    help="Make, list and revoke the tokens by which the service knows its callers.", no_args_is_help=True
)


class RoleName(StrEnum):
    """The roles, each including the ones before."""

    READER = "reader"
    WRITER = "writer"
    EDITOR = "editor"
    ADMINISTRATOR = "administrator"

    @property
    def role(self) -> Role:
        """What it stands for."""
        return Role[self.name]


@token.command()
@careful
def create(
    data: Data,
    role: Annotated[
        RoleName,
        typer.Option(
            "--role",
            help="A reader reads; a writer also proposes changes; an editor also decides; an administrator also "
            "writes shapes, rules and policy.",
        ),
    ],
    *,
    graph: Annotated[
        list[str] | None,
        typer.Option("--graph", metavar="IRI", help="Hold the token to this graph; may be repeated. [default: all]"),
    ] = None,
    expires: Annotated[
        int | None, typer.Option("--expires", metavar="DAYS", min=1, max=36_500, help="Days until it expires.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="TEXT", help="The principal's id, as certificates will show it. [default: made up]"
        ),
    ] = None,
) -> int:
    """Make a token and print it, alone; it is not kept and cannot be shown again.

    Where there is no base in the folder yet, one is made, and said so on standard error.

    Example: TOKEN=$(muniment token create --data data --role editor)
    """
    from api.auth import token_hash
    from bridge.host import SystemClock

    if name is not None and not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"{name!r} cannot be a principal's id",
            remedy="use up to 100 letters, digits and . @ : + - _",
            where="--name",
        )
    identifier = name or f"{role.value}-{secrets.token_hex(4)}"
    graphs = frozenset(iri_option("--graph", text) for text in graph) if graph else None
    until = None if expires is None else Instant(SystemClock().now() + expires * DAY)
    made = new_token()
    is_new = not (data / LEDGER).exists()
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _ledger(data) as ledger:
        ledger.add_principal(Principal(identifier, role.role, graphs), token_hash(made), expires=until)
    typer.echo(made)
    if is_new:
        typer.echo(f"made a new base in {data}: there was none (if that was a slip, remove the folder)", err=True)
    typer.echo(f"a token for {identifier}: it is not kept here, and cannot be shown again", err=True)
    return 0


@token.command("list")
@careful
def list_tokens(data: Data) -> int:
    """List the principals: id, role, graphs, when made, until when, state. Columns are separated by tabs.

    Example: muniment token list --data data
    """
    from bridge.host import SystemClock

    now = SystemClock().now()
    with _ledger(require_base(data)) as ledger:
        typer.echo("id\trole\tgraphs\tcreated\texpires\tstate")
        for record in ledger.principals():
            typer.echo(_line(record, now))
    return 0


@token.command()
@careful
def revoke(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="The principal's id, as `token list` shows it.")],
    data: Data,
) -> int:
    """Make a principal's token worth nothing, from the next request on.

    Example: muniment token revoke editor-6f0c1b7a --data data
    """
    with _ledger(require_base(data)) as ledger:
        ledger.revoke(identifier)
    typer.echo(f"revoked {identifier}", err=True)
    return 0


def new_token() -> str:
    """A token that nobody has yet."""
    return SCANNED_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)


@contextmanager
def _ledger(data: Path) -> Iterator[SqliteLedger]:
    """The ledger alone: a server may hold the base at the same time."""
    from bridge.host import SystemClock
    from bridge.ledger.sqlite import SqliteLedger

    ledger = SqliteLedger.open(data / LEDGER, SystemClock())
    try:
        yield ledger
    finally:
        ledger.close()


def _line(record: PrincipalRecord, now: Instant) -> str:
    principal, expires = record.principal, record.expires
    graphs = "all" if principal.graphs is None else " ".join(sorted(graph.value for graph in principal.graphs))
    until = "never" if expires is None else print_instant(expires)
    expired = expires is not None and expires <= now
    state = "revoked" if record.revoked is not None else "expired" if expired else "valid"
    return "\t".join((principal.id, principal.role.name.lower(), graphs, print_instant(record.created), until, state))
