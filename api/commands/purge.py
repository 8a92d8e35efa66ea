"""`muniment purge`: what must not exist, in a running service, for administrators of the base.

Rules
-----
* Nothing is purged unseen: `preview` says how much would go, and `run` takes the digest of that.
* What is to go is named by an id or an IRI; it is on the command line, which is no secret on the host.

Example
-------
::

    muniment purge preview --node https://example.org/ann
    muniment purge run --node https://example.org/ann --reason 'asked by its subject' --digest 5f0c…
    muniment purge show 01a22b47-1f91-7149-9fcd-effe40db5aac > receipt.json
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final, cast
from urllib.parse import quote

import typer

from api.commands.asking import Asked, asking, with_options
from api.commands.careful import careful
from api.routes.purge_words import goes
from kernel.counting import counted
from kernel.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Iterator

Target = dict[str, object]
"""What is to go, as one member of a body."""

purge = typer.Typer(no_args_is_help=True, help="Purge what must not exist, and see what became of it.")

_TARGETS: Final = {
    "fact": Annotated[str | None, typer.Option("--fact", metavar="ID", help="A fact: its statement is purged.")],
    "family": Annotated[str | None, typer.Option("--family", metavar="ID", help="A family, with all it ever said.")],
    "node": Annotated[str | None, typer.Option("--node", metavar="IRI", help="A node, wherever statements name it.")],
    "episode": Annotated[
        str | None, typer.Option("--episode", metavar="IRI", help="A source, with what is known from it alone.")
    ],
    "graph": Annotated[str | None, typer.Option("--graph", metavar="IRI", help="A graph, with its history.")],
}
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; do not quote what is purged.")]
PurgeArgument = Annotated[str, typer.Argument(metavar="ID", help="The purge's id.")]


def _target(**named: str | None) -> Target:
    given: Target = {name: text for name, text in named.items() if text is not None}
    if len(given) != 1:
        raise InvalidParameter(
            "nothing says what is to go" if not given else "more than one thing is to go",
            remedy="give exactly one of --fact, --family, --node, --episode and --graph",
            where="--node",
        )
    return given


aiming: Final = with_options(_TARGETS, _target)
"""Gives a command an option for each kind of thing that is purged, of which exactly one is to be given."""


@asking
def held(
    service: Asked,
    node: Annotated[str, typer.Argument(metavar="IRI", help="The node.")],
) -> int:
    """Print everything that is held of a node, with its evidence, a fact a line, as JSON.

    On standard error it says how many certificates say something of it, be it that they were refused or wait.

    Example: muniment purge held https://example.org/ann --token-file token > ann.jsonl
    """
    quoted = 0
    for page in _pages(service, "/holdings", {"node": node, "limit": "1000"}):
        for each in page["items"]:
            typer.echo(json.dumps(each, ensure_ascii=False))
        quoted = page["quotedBy"]
    typer.echo(f"quoted by {counted(quoted, 'certificate')}", err=True)
    return 0


@asking
@aiming
def preview(target: Target, service: Asked) -> int:
    """Say how much a purge would take, and the digest to carry it out with.

    Exit status: 0; 1 an error, or nothing is held of it.

    Example: muniment purge preview --node https://example.org/ann --token-file token
    """
    told = _asked(service, "/purges", {**target, "preview": True})
    for number, what in goes(told):
        typer.echo(f"{number} {what}")
    if not told["allTextsSearched"]:
        typer.echo("too many texts go for all of them to be searched for in reasons, comments and findings")
    if told["graphStays"]:
        typer.echo("the graph of this name stays: purge it as a graph")
    for place in cast("list[str]", told["stays"]):
        typer.echo(f"what quotes it stays: {place}")
    typer.echo(f"digest {told['digest']}")
    return 0


@asking
@aiming
def run(
    target: Target,
    service: Asked,
    *,
    reason: Reason,
    digest: Annotated[str, typer.Option("--digest", metavar="HEX", help="What the preview said.")],
) -> int:
    """Carry a purge out that was previewed.

    Exit status: 0 carried out; 2 it waits for a second person; 1 an error, or something has changed since.

    Example: muniment purge run --node https://example.org/ann --reason 'asked by its subject' --digest 5f0c…
    """
    told = _asked(service, "/purges", {**target, "reason": reason, "digest": digest})
    _say(told)
    return 2 if told["state"] == "waiting" else 0


@asking
def listed(service: Asked) -> int:
    """List all purges, newest first.

    Example: muniment purge list --token-file token
    """
    for page in _pages(service, "/purges", {"limit": "500"}):
        for each in page["items"]:
            _say(each)
    return 0


@asking
def show(service: Asked, purge: PurgeArgument) -> int:
    """Print what became of a purge, with its signed receipt, as JSON.

    Example: muniment purge show 01a22b47-1f91-7149-9fcd-effe40db5aac --token-file token
    """
    typer.echo(json.dumps(_asked(service, _path(purge), None), ensure_ascii=False, indent=1))
    return 0


@asking
def approve(service: Asked, purge: PurgeArgument) -> int:
    """Approve a purge that another administrator asked for; it is carried out.

    Example: muniment purge approve 01a22b47-1f91-7149-9fcd-effe40db5aac --token-file token
    """
    _say(_asked(service, f"{_path(purge)}/decision", {"decision": "approve"}))
    return 0


@asking
def reject(service: Asked, purge: PurgeArgument) -> int:
    """Reject a purge that waits.

    Example: muniment purge reject 01a22b47-1f91-7149-9fcd-effe40db5aac --token-file token
    """
    _say(_asked(service, f"{_path(purge)}/decision", {"decision": "reject"}))
    return 0


@asking
def restore(
    service: Asked,
    purge: PurgeArgument,
    *,
    reason: Reason,
) -> int:
    """Lift the tombstones of a purge: what it took stays gone, and may be written again.

    Example: muniment purge restore 01a22b47-1f91-7149-9fcd-effe40db5aac --reason 'the wrong person'
    """
    _say(_asked(service, f"{_path(purge)}/restore", {"reason": reason}))
    return 0


def _asked(
    service: Asked, path: str, members: dict[str, object] | None, parameters: dict[str, str] | None = None
) -> dict[str, object]:
    from api.commands.remote.administering import ask_purge

    return ask_purge(service.url, service.token, path, members, parameters)


def _pages(service: Asked, path: str, parameters: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Every page of a list."""
    while True:
        page: dict[str, Any] = _asked(service, path, None, parameters)
        yield page
        if page["next"] is None:
            return
        parameters["after"] = page["next"]


def _path(purge: str) -> str:
    return f"/purges/{quote(purge.removeprefix('urn:uuid:'), safe='')}"


def _say(told: dict[str, object]) -> None:
    typer.echo("  ".join(_parts(told)))


def _parts(told: dict[str, object]) -> Iterator[str]:
    yield str(told["purge"])
    yield f"{told['state']}, of a {told['of']}, by {told['askedBy']} at {told['askedAt']}"
    if "facts" in told:
        yield ", ".join(
            counted(int(str(told[name])), *words)
            for name, words in (
                ("facts", ("fact",)),
                ("evidence", ("piece of evidence", "pieces of evidence")),
                ("items", ("item",)),
            )
        )
    if "restoredBy" in told:
        yield f"tombstones lifted by {told['restoredBy']}"


purge.command()(careful(held))
purge.command()(careful(preview))
purge.command()(careful(run))
purge.command("list")(careful(listed))
purge.command()(careful(show))
purge.command()(careful(approve))
purge.command()(careful(reject))
purge.command()(careful(restore))
