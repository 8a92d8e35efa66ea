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
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import quote

import typer

from api.commands.careful import careful
from api.commands.options import SERVICE, TokenEnv, TokenFile, Url, named_token, named_url
from kernel.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

purge = typer.Typer(no_args_is_help=True, help="Purge what must not exist, and see what became of it.")

Fact = Annotated[str | None, typer.Option("--fact", metavar="ID", help="A fact: its statement is purged.")]
Family = Annotated[str | None, typer.Option("--family", metavar="ID", help="A family, with all it ever said.")]
Node = Annotated[str | None, typer.Option("--node", metavar="IRI", help="A node, wherever statements name it.")]
Episode = Annotated[
    str | None, typer.Option("--episode", metavar="IRI", help="A source, with what is known from it alone.")
]
Graph = Annotated[str | None, typer.Option("--graph", metavar="IRI", help="A graph, with its history.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; do not quote what is purged.")]
PurgeArgument = Annotated[str, typer.Argument(metavar="ID", help="The purge's id.")]

_PREVIEWED: Final = {
    "facts": "facts",
    "evidence": "pieces of evidence",
    "planItems": "items of plans",
    "findings": "findings",
    "impactRows": "rows of impact",
    "comments": "comments",
    "rejected": "certificates in review, which are rejected",
    "stagedLoads": "staged loads",
}


def held(
    node: Annotated[str, typer.Argument(metavar="IRI", help="The node.")],
    *,
    url: Url = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
) -> int:
    """Print everything that is held of a node, with its evidence, a fact a line, as JSON.

    Example: muniment purge held https://example.org/ann --token-file token > ann.jsonl
    """
    parameters = {"node": node, "limit": "1000"}
    while True:
        told = _asked(url, token_env, token_file, "/holdings", None, parameters)
        items = told["items"]
        for each in items if isinstance(items, list) else ():
            typer.echo(json.dumps(each, ensure_ascii=False))
        if told["next"] is None:
            return 0
        parameters["after"] = str(told["next"])


def preview(
    *,
    fact: Fact = None,
    family: Family = None,
    node: Node = None,
    episode: Episode = None,
    graph: Graph = None,
    url: Url = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
) -> int:
    """Say how much a purge would take, and the digest to carry it out with.

    Exit status: 0; 1 an error, or nothing is held of it.

    Example: muniment purge preview --node https://example.org/ann --token-file token
    """
    members = _target(fact=fact, family=family, node=node, episode=episode, graph=graph) | {"preview": True}
    told = _asked(url, token_env, token_file, "/purges", members)
    for name, what in _PREVIEWED.items():
        if told[name]:
            typer.echo(f"{told[name]} {what}")
    if not told["allTextsSearched"]:
        typer.echo("too many texts go for all of them to be searched for in reasons, comments and findings")
    if told["graphStays"]:
        typer.echo("the graph of this name stays: purge it as a graph")
    typer.echo(f"digest {told['digest']}")
    return 0


def run(
    *,
    reason: Reason,
    digest: Annotated[str, typer.Option("--digest", metavar="HEX", help="What the preview said.")],
    fact: Fact = None,
    family: Family = None,
    node: Node = None,
    episode: Episode = None,
    graph: Graph = None,
    url: Url = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
) -> int:
    """Carry a purge out that was previewed.

    Exit status: 0 carried out; 2 it waits for a second person; 1 an error, or something has changed since.

    Example: muniment purge run --node https://example.org/ann --reason 'asked by its subject' --digest 5f0c…
    """
    members = _target(fact=fact, family=family, node=node, episode=episode, graph=graph)
    told = _asked(url, token_env, token_file, "/purges", members | {"reason": reason, "digest": digest})
    _say(told)
    return 2 if told["state"] == "waiting" else 0


def listed(*, url: Url = None, token_env: TokenEnv = None, token_file: TokenFile = None) -> int:
    """List all purges, newest first.

    Example: muniment purge list --token-file token
    """
    told = _asked(url, token_env, token_file, "/purges", None)
    items = told["items"]
    for each in items if isinstance(items, list) else ():
        _say(each)
    return 0


def show(purge: PurgeArgument, *, url: Url = None, token_env: TokenEnv = None, token_file: TokenFile = None) -> int:
    """Print what became of a purge, with its signed receipt, as JSON.

    Example: muniment purge show 01a22b47-1f91-7149-9fcd-effe40db5aac --token-file token
    """
    typer.echo(json.dumps(_asked(url, token_env, token_file, _path(purge), None), ensure_ascii=False, indent=1))
    return 0


def approve(purge: PurgeArgument, *, url: Url = None, token_env: TokenEnv = None, token_file: TokenFile = None) -> int:
    """Approve a purge that another administrator asked for; it is carried out.

    Example: muniment purge approve 01a22b47-1f91-7149-9fcd-effe40db5aac --token-file token
    """
    _say(_asked(url, token_env, token_file, f"{_path(purge)}/decision", {"decision": "approve"}))
    return 0


def reject(purge: PurgeArgument, *, url: Url = None, token_env: TokenEnv = None, token_file: TokenFile = None) -> int:
    """Reject a purge that waits.

    Example: muniment purge reject 01a22b47-1f91-7149-9fcd-effe40db5aac --token-file token
    """
    _say(_asked(url, token_env, token_file, f"{_path(purge)}/decision", {"decision": "reject"}))
    return 0


def restore(
    purge: PurgeArgument,
    *,
    reason: Reason,
    url: Url = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
) -> int:
    """Lift the tombstones of a purge: what it took stays gone, and may be written again.

    Example: muniment purge restore 01a22b47-1f91-7149-9fcd-effe40db5aac --reason 'the wrong person'
    """
    _say(_asked(url, token_env, token_file, f"{_path(purge)}/restore", {"reason": reason}))
    return 0


def _target(**named: str | None) -> dict[str, object]:
    given: dict[str, object] = {name: text for name, text in named.items() if text is not None}
    if len(given) != 1:
        raise InvalidParameter(
            "nothing says what is to go" if not given else "more than one thing is to go",
            remedy="give exactly one of --fact, --family, --node, --episode and --graph",
            where="--node",
        )
    return given


def _asked(
    url: str | None,
    token_env: str | None,
    token_file: Path | None,
    path: str,
    members: dict[str, object] | None,
    parameters: dict[str, str] | None = None,
) -> dict[str, object]:
    from api.commands.remote import ask_purge

    return ask_purge(named_url(url) or SERVICE, named_token(token_env, token_file), path, members, parameters)


def _path(purge: str) -> str:
    return f"/purges/{quote(purge.removeprefix('urn:uuid:'), safe='')}"


def _say(told: dict[str, object]) -> None:
    typer.echo("  ".join(_parts(told)))


def _parts(told: dict[str, object]) -> Iterator[str]:
    yield str(told["purge"])
    yield f"{told['state']}, of a {told['of']}, by {told['askedBy']} at {told['askedAt']}"
    if "facts" in told:
        yield f"{told['facts']} facts, {told['evidence']} pieces of evidence, {told['items']} items"
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
