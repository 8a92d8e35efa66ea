"""`muniment queries`: the queries that somebody relies on, in a running service.

Rules
-----
* A team keeps its queries as files: SPARQL, and before it lines such as `# owner: city-desk` (docs/impact.md). `load`
  registers any number of them under one certificate; what has not changed is left alone.
* What is wrong with a file is told with its name, and then nothing is registered.

Example
-------
::

    muniment queries load queries/*.rq --token-file token
    muniment queries list --token-file token
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.commands.asking import Asked, asking
from api.commands.careful import careful
from api.commands.options import content_of, within

if TYPE_CHECKING:
    from collections.abc import Iterable

    from api.commands.remote.outcomes import Told
    from kernel.queries import RegisteredQuery

_LONGEST = 2**20
"""Bytes of a file, of which a query is a small part."""

queries = typer.Typer(
    help="List, register and take away the queries whose answers every change is held against.", no_args_is_help=True
)

Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="For those who read the certificate.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Judge only: nothing is signed, kept or applied.")]


@queries.command("list")
@careful
@asking
def list_queries(service: Asked) -> int:
    """List the registered queries that the token may see, one a line.

    Example: muniment queries list --token-file token
    """
    from api.commands.remote.queries import listed_queries
    from api.commands.tables import printable

    for each in listed_queries(service.url, service.token):
        said = (
            each["name"],
            each["action"],
            f"weight {each['weight']}",
            each["moment"],
            each["owner"],
            each["contact"],
        )
        typer.echo("  ".join(map(printable, said)))
    return 0


@queries.command()
@careful
@asking
def put(
    service: Asked,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the query.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A query with its header.")],
    *,
    reason: Reason = None,
    dry_run: DryRun = False,
) -> int:
    """Register the query in a file under a name, or replace the one that has it.

    Exit status: 0 applied, or nothing to do; 2 in review; 3 refused; 1 an error.

    Example: muniment queries put mayors queries/mayors.rq --token-file token
    """
    from dataclasses import replace

    query = replace(_read(file), name=name)
    return _send(service, [query], reason, dry_run=dry_run)


@queries.command()
@careful
@asking
def load(
    service: Asked,
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="Queries, each with its header.")],
    *,
    reason: Reason = None,
    dry_run: DryRun = False,
) -> int:
    """Register all queries in files, under one certificate: all of them, or none.

    Exit status: as of put.

    Example: muniment queries load queries/*.rq --token-file token
    """
    from kernel.errors import InvalidQuery

    found: dict[str, tuple[Path, RegisteredQuery]] = {}
    for file in files:
        query = _read(file)
        if query.name in found:
            raise InvalidQuery(
                f"{found[query.name][0]} has a query of this name, {query.name}, as well",
                remedy="give one of them another `# name:`",
                where=str(file),
            )
        found[query.name] = (file, query)
    wanted = [query for _, query in found.values()]
    return _send(service, wanted, reason, dry_run=dry_run)


@queries.command()
@careful
@asking
def remove(
    service: Asked,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the query.")],
    *,
    reason: Reason = None,
    dry_run: DryRun = False,
) -> int:
    """Take a registered query away: from now on no change is held against it.

    Exit status: as of put.

    Example: muniment queries remove mayors --token-file token
    """
    from api.commands.remote.queries import remove_query

    told = remove_query(service.url, service.token, name, reason, dry_run=dry_run)
    return _said(told)


def _read(file: Path) -> RegisteredQuery:
    from bridge.documents.queries import read_file
    from kernel.errors import InvalidDocument

    with within(file):
        try:
            return read_file(file.name, content_of(file, _LONGEST).decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise InvalidDocument("it is not in UTF-8", remedy="save it as UTF-8") from error


def _send(service: Asked, wanted: Iterable[RegisteredQuery], reason: str | None, *, dry_run: bool) -> int:
    from api.commands.remote.queries import put_queries
    from bridge.documents.queries import definition

    definitions = {query.name: definition(query) for query in wanted}
    return _said(put_queries(service.url, service.token, definitions, reason, dry_run=dry_run))


def _said(told: Told) -> int:
    from api.commands.load import EXIT_STATUS
    from api.commands.submit import STATES, in_words

    if told["certificate"] is None and told["state"] is None and told["verdict"] == "clear" and not told["findings"]:
        typer.echo("nothing to change, or a dry run")
        return 0
    for line in in_words(told):
        typer.echo(line)
    return EXIT_STATUS[told["state"] or STATES[told["verdict"]]]
