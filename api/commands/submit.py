"""`muniment submit`: changes in a file, asked of a running service.

Rules
-----
* The file is a request as `POST /changes` takes it (docs/writing.md), in JSON.
* What is no JSON is not sent: the service would take the blame on itself, and not know the file.
* The answer says what became of it: applied, in review, or refused, and why.

Example
-------
::

    muniment submit change.json --url http://127.0.0.1:8350 --token-file token
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.options import SERVICE, TokenEnv, TokenFile, Url, named_token, named_url
from kernel.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.commands.remote.outcomes import Told

STATES: Final = {"clear": "applied", "review": "pending", "refused": "refused"}
"""What a dry run would come to, by verdict."""


def submit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Changes in JSON; - reads them from standard input.")],
    *,
    url: Url = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge only: nothing is signed, kept or applied.")] = False,
) -> int:
    """Ask a running service for changes.

    Exit status: 0 applied, or judged clear; 2 in review; 3 refused; 1 an error.

    Example: muniment submit change.json --token-file token
    """
    from api.commands.load import EXIT_STATUS
    from api.commands.remote.outcomes import submit as submit_remotely

    body = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    require_json(body, file)
    told = submit_remotely(named_url(url) or SERVICE, named_token(token_env, token_file), body, dry_run=dry_run)
    for line in in_words(told):
        typer.echo(line)
    return EXIT_STATUS[told["state"] or STATES[told["verdict"]]]


def require_json(body: bytes, file: Path) -> None:
    """Raises `InvalidParameter` for what is none."""
    if not body.strip():
        raise InvalidParameter("there is nothing in it", remedy='write {"changes": […]}', where=str(file))
    try:
        json.loads(body, parse_int=str)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise InvalidParameter(
            f"this is not JSON: {error}",
            remedy="for RDF, use `muniment load`, or POST /changes with the media type of the format",
            where="standard input" if str(file) == "-" else str(file),
        ) from error


def in_words(told: Told) -> Iterator[str]:
    """What became of a request or a decision, one line each."""
    from api.commands.tables import printable

    yield f"certificate  {told['certificate'] or 'none, this was a dry run'}"
    yield f"verdict      {told['verdict']}"
    if told["state"] is not None:
        yield f"state        {told['state']}"
    if told["head"] is not None:
        yield f"head         {told['head']}"
    if told.get("successor"):
        yield f"successor    {told['successor']}"
    if told.get("why"):
        yield f"why          {printable(told['why'] or '')}"
    for finding in told["findings"]:
        yield f"  {finding['severity']} {finding['code']}: {printable(finding['message'])}"
    if more := told.get("moreFindings"):
        where = f": {more['next']}" if more["next"] else ""
        yield f"  and {more['count']} more{where}"
