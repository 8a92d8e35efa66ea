"""`muniment query`: SPARQL on a folder, or on a service; a table on a terminal.

Rules
-----
* The query is the argument, or in a file (`@FILE`), or on standard input.
* On a folder the base is held while the query runs, in a worker with the memory that a service gives an
  administrator's, for as long as somebody waits. Where a server holds the base, it is the one to ask: `--url`.
* `--entailment` asks also what follows from what is asserted (`bridge.entailment`).
* Without `--format`, a terminal gets a table, and anything else TSV, which keeps the kinds of terms apart; CONSTRUCT
  and DESCRIBE give Turtle.

Example
-------
::

    muniment query 'SELECT * { ?s ?p ?o } LIMIT 5' --data data --valid-at 1999
    muniment query @people.rq --url http://127.0.0.1:8350 --token-file token --format json
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.options import (
    AsOf,
    MaybeData,
    MaybeUrl,
    TokenEnv,
    TokenFile,
    folder_or_url,
    local_principal,
    named_token,
    open_to_read,
)
from kernel.errors import InvalidParameter

if TYPE_CHECKING:
    from bridge.base import Base
    from bridge.replicas.answers import Answer

_SELECT: Final = "application/sparql-results+json"

PATIENCE: Final = 60.0
"""Seconds in which a worker has to come up."""


class Entailment(StrEnum):
    """The values of `--entailment`."""

    NONE = "none"
    RDFS = "rdfs"
    OWL_RL = "owl-rl"


class ResultFormat(StrEnum):
    """The formats of `--format`."""

    TABLE = "table"
    JSON = "json"
    XML = "xml"
    CSV = "csv"
    TSV = "tsv"
    TURTLE = "turtle"
    NTRIPLES = "ntriples"
    NQUADS = "nquads"
    TRIG = "trig"
    JSONLD = "jsonld"
    RDFXML = "rdfxml"


ACCEPT: Final = {
    ResultFormat.TABLE: f"{_SELECT}, text/turtle;q=0.9",
    ResultFormat.JSON: _SELECT,
    ResultFormat.XML: "application/sparql-results+xml",
    ResultFormat.CSV: "text/csv",
    ResultFormat.TSV: "text/tab-separated-values",
    ResultFormat.TURTLE: "text/turtle",
    ResultFormat.NTRIPLES: "application/n-triples",
    ResultFormat.NQUADS: "application/n-quads",
    ResultFormat.TRIG: "application/trig",
    ResultFormat.JSONLD: "application/ld+json",
    ResultFormat.RDFXML: "application/rdf+xml",
}
"""What is asked for; the first fits SELECT, ASK, CONSTRUCT and DESCRIBE."""

UNSAID: Final = "text/tab-separated-values, text/turtle;q=0.9"
"""What is asked for without `--format`, when nobody looks on."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query, the moment to ask it at, and by which rules something is to follow."""

    text: str
    accept: str
    as_of: str | None
    valid_at: str | None
    entailment: Entailment | None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and the state it was given for."""

    body: bytes
    media_type: str
    head: str
    valid_at: str


def query(
    text: Annotated[
        str, typer.Argument(metavar="QUERY", help="SPARQL; @FILE reads it from a file, - from standard input.")
    ] = "-",
    *,
    data: MaybeData = None,
    url: MaybeUrl = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
    as_of: AsOf = None,
    valid_at: Annotated[
        str | None, typer.Option("--valid-at", metavar="TIME", help="As true when. [default: as-of, or now]")
    ] = None,
    entailment: Annotated[
        Entailment | None, typer.Option("--entailment", help="Ask also what follows, by these rules. [default: none]")
    ] = None,
    output: Annotated[ResultFormat | None, typer.Option("--format", help="How to print the answer.")] = None,
) -> int:
    """Ask a SPARQL query, now or at any other pair of times.

    Example: muniment query 'SELECT * { ?s ?p ?o } LIMIT 5' --data data --valid-at 1999
    """
    asked = folder_or_url(data, url, token=bool(token_env or token_file))
    table = output is ResultFormat.TABLE or (output is None and sys.stdout.isatty())
    accept = ACCEPT[ResultFormat.TABLE] if table else UNSAID if output is None else ACCEPT[output]
    question = Question(_read(text), accept, as_of, valid_at, entailment)
    if isinstance(asked, Path):
        reply = _ask_folder(asked, question)
    else:
        from api.commands.remote.reading import ask

        reply = ask(asked, named_token(token_env, token_file), question)
    _print(reply, table=table)
    return 0


def _read(text: str) -> str:
    try:
        if text == "-":
            return sys.stdin.read()
        return Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
    except UnicodeDecodeError as error:
        place = "standard input" if text == "-" else text[1:]
        raise InvalidParameter("this is not UTF-8", remedy="give a SPARQL query as text", where=place) from error


def _ask_folder(data: Path, question: Question) -> Reply:
    from kernel.time.instants import print_instant

    with open_to_read(data) as base:
        answer, body = asyncio.run(_in_worker(base, question))
    head = "" if answer.head is None else str(answer.head)
    return Reply(body, answer.media_type, head, print_instant(answer.valid_at))


async def _in_worker(base: Base, question: Question) -> tuple[Answer, bytes]:
    from api.settings import read_settings
    from bridge.reading.reader import QueryRequest
    from bridge.replicas.limits import PoolSize
    from bridge.replicas.pool import ReplicaPool
    from kernel.entailment.table import Regime

    principal = local_principal()
    moment = base.reader.moment(question.as_of, question.valid_at)
    wanted = question.entailment
    regime = None if wanted is None or wanted is Entailment.NONE else Regime(wanted)
    asked = base.reader.question(QueryRequest(principal, question.text, question.accept, entailment=regime), moment)
    limits = replace(read_settings().limits_of(principal.role), seconds=inf)
    pool = ReplicaPool(base.stores, base.snapshots, PoolSize(workers=1, spares=0, patience=PATIENCE))
    try:
        answer = await pool.answer(asked, limits, principal.id)
        return answer, await answer.read()
    finally:
        await pool.close()


def _print(reply: Reply, *, table: bool) -> None:
    if table and reply.media_type.startswith(_SELECT):
        from api.commands.tables import print_table

        print_table(reply.body)
    else:
        # Files hold the answer as it came; in a terminal the prompt begins a line.
        ends = reply.body.endswith(b"\n") or not (table or sys.stdout.isatty())
        sys.stdout.buffer.write(reply.body if ends else reply.body + b"\n")
        sys.stdout.buffer.flush()
    if table:
        typer.echo(f"head {reply.head or 'none'}, valid at {reply.valid_at}", err=True)
