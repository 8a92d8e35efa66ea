"""`muniment access`: who read what, as a service kept it.

Rules
-----
* It reads the files in the base's folder, which are their owner's alone; the service may run meanwhile.
* What is given narrows it down: all of it has to fit.

Example
-------
::

    muniment access --data data --graph https://example.org/g --since 2026-05-01
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from api.commands.options import Data, require_base

if TYPE_CHECKING:
    from collections.abc import Callable


def access(
    data: Data,
    *,
    principal: Annotated[
        str | None, typer.Option("--principal", metavar="ID", help="What somebody read, by their id.")
    ] = None,
    graph: Annotated[
        str | None, typer.Option("--graph", metavar="IRI", help="What may have been drawn from a graph.")
    ] = None,
    asked: Annotated[
        str | None, typer.Option("--asked", metavar="TEXT", help="Who asked this query, to the letter.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="From when on.")] = None,
) -> int:
    """Print who read what, a line of JSON for each request, oldest first.

    Kept where the service runs with MUNIMENT_ACCESS_LOG=requests, or =queries for their text as well.

    Example: muniment access --data data --principal reader-6f0c1b7a
    """
    from api.callers.access_log import lines_of

    fits = _wanted(principal, graph, asked, since)
    for line in lines_of(require_base(data)):
        if fits(json.loads(line)):
            typer.echo(line, nl=False)
    return 0


def _wanted(
    principal: str | None, graph: str | None, asked: str | None, since: str | None
) -> Callable[[dict[str, object]], bool]:
    """Which lines. Raises `InvalidTime`."""
    from api.callers.access_log import digest_of
    from kernel.time.instants import parse_instant
    from kernel.time.timevalues import parse_point

    digest = None if asked is None else digest_of(asked)
    first = None if since is None else parse_point(since, field="--since")

    def fits(line: dict[str, object]) -> bool:
        graphs = line["graphs"]
        return (
            principal in (None, line["principal"])
            and (graph is None or graphs == "all" or (isinstance(graphs, list) and graph in graphs))
            and digest in (None, line["digest"])
            and (first is None or parse_instant(str(line["at"]), field="at") >= first)
        )

    return fits
