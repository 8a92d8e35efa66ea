"""`muniment token`: who may use the service.

Rules
-----
* A token is `mnt_` and 256 random bits in URL-safe base64 (RFC 4648, section 5).
* It is shown once, when it is made: alone on standard output, so that a script can take it. Only its hash is kept.
* `create` makes a base where there is none, for the first token may be wanted before the first start; it says so. The
  others do not.
* `--role` goes for the whole base, or for the graphs that `--graph` names. `--grant` adds a role in one graph: whoever
  has nothing else sees no other.
* These commands work while a server runs on the same folder: what they change holds from the next request on.

Example
-------
::

    TOKEN=$(muniment token create --data data --role writer --graph https://example.org/g)
    muniment token create --data data --grant reader=https://example.org/a --grant writer=https://example.org/b
    muniment token list --data data
    muniment token revoke writer-6f0c1b7a --data data
"""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.callers.roles import RoleName
from api.commands.careful import careful
from api.commands.options import LEDGER, Data, iri_option, public_key, require_base
from kernel.access import ANONYMOUS, Grant, Principal, Role
from kernel.errors import InvalidParameter
from kernel.time.instants import DAY, Instant, print_instant
from kernel.vocabulary import GOVERNANCE, is_history

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.ledger.certificate_rows import PrincipalRecord
    from bridge.ledger.sqlite import SqliteLedger
    from kernel.terms import Iri

SCANNED_PREFIX: Final = "mnt_"
"""Lets scanners for secrets find a token that has strayed."""

TOKEN_BYTES: Final = 32

_NAME: Final = re.compile(r"[\w.@:+-]{1,100}")

token = typer.Typer(
    help="Make, list and revoke the tokens by which the service knows its callers.", no_args_is_help=True
)


@token.command()
@careful
def create(
    data: Data,
    *,
    role: Annotated[
        RoleName | None,
        typer.Option(
            "--role",
            help="A reader reads; a writer also proposes changes; an editor also decides; an administrator also "
            "writes shapes, rules and policy.",
        ),
    ] = None,
    graph: Annotated[
        list[str] | None,
        typer.Option(
            "--graph", metavar="IRI", help="The role is for this graph alone; may be repeated. [default: all]"
        ),
    ] = None,
    grant: Annotated[
        list[str] | None,
        typer.Option(
            "--grant", metavar="ROLE=IRI", help="A role in one graph, besides --role or alone; may be repeated."
        ),
    ] = None,
    cites: Annotated[
        bool, typer.Option("--cites", help="For agents: each write has to cite a state that was read, once.")
    ] = False,
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
    from api.callers.auth import token_hash
    from bridge.host import SystemClock

    if name is not None and not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"{name!r} cannot be a principal's id",
            remedy="use up to 100 letters, digits and . @ : + - _",
            where="--name",
        )
    if name == ANONYMOUS:
        raise InvalidParameter(f"{name} stands for whoever has no token", remedy="use another name", where="--name")
    held = _held(role, graph or [], grant or [])
    principal = replace(held, cites=cites, id=name or f"{held.highest.name.lower()}-{secrets.token_hex(4)}")
    until = None if expires is None else Instant(SystemClock().now() + expires * DAY)
    made = new_token()
    is_new = not (data / LEDGER).exists()
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _ledger(data) as ledger:
        ledger.add_principal(principal, token_hash(made), expires=until)
    typer.echo(made)
    if is_new:
        typer.echo(f"made a new base in {data}: there was none (if that was a slip, remove the folder)", err=True)
    typer.echo(f"a token for {principal.id}: it is not kept here, and cannot be shown again", err=True)
    return 0


@token.command("list")
@careful
def list_tokens(data: Data) -> int:
    """List the principals: id, role, graphs, when made, until when, state, cites. Columns are separated by tabs.

    Graphs are those that the role goes for, then roles in single ones, as `create` takes them.

    Example: muniment token list --data data
    """
    from bridge.host import SystemClock

    now = SystemClock().now()
    with _ledger(require_base(data)) as ledger:
        typer.echo("id\trole\tgraphs\tcreated\texpires\tstate\tcites")
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


@token.command("key")
@careful
def register_key(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="The editor's id, as `token list` shows it.")],
    data: Data,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Their public key: a Multikey document, or its z6Mk… text alone. [default: none from now on]",
        ),
    ] = None,
) -> int:
    """Register the public key that an editor signs decisions with, or take it out. Works while a server runs.

    Example: muniment token key editor-1 --data data --key editor.txt
    """
    public = None if key is None else public_key(key).multibase
    with _ledger(require_base(data)) as ledger:
        ledger.register_key(identifier, public)
    typer.echo(f"{identifier} signs with {public or 'no key'}", err=True)
    return 0


def _held(role: RoleName | None, graphs: list[str], grants: list[str]) -> Principal:
    """Somebody without a name who may do what the options say. Raises `InvalidParameter`."""
    granted = frozenset(map(_grant, grants))
    if role is not None:
        held_to = frozenset(_graph("--graph", text) for text in graphs) if graphs else None
        return Principal("", role.role, held_to, granted)
    if graphs:
        raise InvalidParameter("graphs without a role", remedy="give a --role as well", where="--graph")
    if not granted:
        raise InvalidParameter(
            "what the token is for is not said", remedy="give a --role, or a --grant ROLE=IRI", where="--role"
        )
    return Principal("", Role.READER, frozenset(), granted)


def _grant(text: str) -> Grant:
    name, equals, graph = text.partition("=")
    if not equals or name not in set(RoleName):
        raise InvalidParameter(
            f"{text[:80]!r} is no grant", remedy=f"write ROLE=IRI with a role of {', '.join(RoleName)}", where="--grant"
        )
    return Grant(RoleName(name).role, _graph("--grant", graph))


def _graph(option: str, text: str) -> Iri:
    """A graph that roles are for. Raises `InvalidParameter`."""
    graph = iri_option(option, text)
    if is_history(graph) or graph in GOVERNANCE:
        raise InvalidParameter(
            f"no role is for {graph.value} by itself",
            remedy="history goes with its graph; shapes, ontology, rules and policy with a --role for the whole base",
            where=option,
        )
    return graph


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
    until = "never" if expires is None else print_instant(expires)
    expired = expires is not None and expires <= now
    state = "revoked" if record.revoked is not None else "expired" if expired else "valid"
    role, graphs = _role_and_graphs(principal)
    return "\t".join((principal.id, role, graphs, print_instant(record.created), until, state, _cites(principal)))


def _cites(principal: Principal) -> str:
    return "yes" if principal.cites else "no"


def _role_and_graphs(principal: Principal) -> tuple[str, str]:
    """The role, and where; further grants as `create` takes them."""
    held = ["all"] if principal.graphs is None else sorted(graph.value for graph in principal.graphs)
    granted = sorted(f"{grant.role.name.lower()}={grant.graph.value}" for grant in principal.grants)
    return (principal.role.name.lower() if held else "none"), " ".join(held + granted)
