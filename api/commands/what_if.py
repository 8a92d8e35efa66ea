"""`muniment what-if`: plans that a running service holds for a while as a branch, to see what they would come to.

Rules
-----
* A file is a request as `POST /changes` takes it, as for `muniment submit`. What holds it prints the branch's id.
* The base with the branch is asked as any: `muniment query … --url URL/what-if/BRANCH`.
* What it says of a branch is as of a dry run, and so is the exit status; of submitting it, as of `muniment submit`.

Example
-------
::

    muniment what-if hold plan.json --token-file token
    muniment what-if submit 0197… --token-file token
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.commands.careful import careful
from api.commands.options import SERVICE, TokenEnv, TokenFile, Url, named_token, named_url
from kernel.counting import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.commands.remote.branches import ToldBranch

what_if = typer.Typer(
    help="Hold changes as a branch, see what they would come to, and submit or drop them.", no_args_is_help=True
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="Changes in JSON; - reads them from standard input.")]
Branch = Annotated[str, typer.Argument(metavar="BRANCH", help="The id of the branch.")]


@what_if.command()
@careful
def hold(file: File, *, url: Url = None, token_env: TokenEnv = None, token_file: TokenFile = None) -> int:
    """Hold the changes in a file as a new branch.

    Exit status: 0 it would be applied; 2 it would wait for an editor; 3 it would be refused; 1 an error.

    Example: muniment what-if hold plan.json --token-file token
    """
    return _sent("", file, url, named_token(token_env, token_file))


@what_if.command()
@careful
def add(
    branch: Branch, file: File, *, url: Url = None, token_env: TokenEnv = None, token_file: TokenFile = None
) -> int:
    """Add the changes in a file to a branch.

    Exit status: as of hold.

    Example: muniment what-if add 01970000-0000-7000-8000-000000000000 more.json --token-file token
    """
    return _sent(f"{_path(branch)}/plans", file, url, named_token(token_env, token_file))


@what_if.command("list")
@careful
def list_branches(*, url: Url = None, token_env: TokenEnv = None, token_file: TokenFile = None) -> int:
    """List the branches that the token may see, one a line.

    Example: muniment what-if list --token-file token
    """
    from api.commands.remote.branches import listed_branches
    from api.commands.tables import printable

    for each in listed_branches(named_url(url) or SERVICE, named_token(token_env, token_file)):
        holds = counted(each["changes"], "change")
        said = (each["branch"], each["state"], holds, f"until {each['until']}", each["maker"])
        typer.echo("  ".join(map(printable, said)))
    return 0


@what_if.command()
@careful
def show(branch: Branch, *, url: Url = None, token_env: TokenEnv = None, token_file: TokenFile = None) -> int:
    """Show a branch, and what it would come to now.

    Exit status: as of hold; 1 where it cannot be planned any more.

    Example: muniment what-if show 01970000-0000-7000-8000-000000000000 --token-file token
    """
    from api.commands.remote.branches import of_branches

    return _said(of_branches(named_url(url) or SERVICE, named_token(token_env, token_file), "GET", _path(branch)))


@what_if.command()
@careful
def submit(branch: Branch, *, url: Url = None, token_env: TokenEnv = None, token_file: TokenFile = None) -> int:
    """Ask for all that a branch holds, under one certificate.

    Exit status: 0 applied; 2 in review; 3 refused; 1 an error.

    Example: muniment what-if submit 01970000-0000-7000-8000-000000000000 --token-file token
    """
    from api.commands.load import EXIT_STATUS
    from api.commands.remote.branches import submit_branch
    from api.commands.submit import STATES, in_words

    told = submit_branch(named_url(url) or SERVICE, named_token(token_env, token_file), branch)
    for line in in_words(told):
        typer.echo(line)
    return EXIT_STATUS[told["state"] or STATES[told["verdict"]]]


@what_if.command()
@careful
def drop(branch: Branch, *, url: Url = None, token_env: TokenEnv = None, token_file: TokenFile = None) -> int:
    """Drop a branch, whatever it holds.

    Example: muniment what-if drop 01970000-0000-7000-8000-000000000000 --token-file token
    """
    from api.commands.remote.branches import of_branches

    of_branches(named_url(url) or SERVICE, named_token(token_env, token_file), "DELETE", _path(branch))
    return 0


def _path(branch: str) -> str:
    from urllib.parse import quote

    return f"/{quote(branch, safe='')}"


def _sent(path: str, file: Path, url: str | None, token: str | None) -> int:
    from api.commands.remote.branches import of_branches
    from api.commands.submit import require_json

    body = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    require_json(body, file)
    return _said(of_branches(named_url(url) or SERVICE, token, "POST", path, body))


def _said(told: ToldBranch) -> int:
    from api.commands.load import EXIT_STATUS
    from api.commands.submit import STATES

    for line in _in_words(told):
        typer.echo(line)
    if told["state"] == "submitted":
        return 0
    verdict = told.get("verdict")
    return 1 if verdict is None else EXIT_STATUS[STATES[verdict]]


def _in_words(told: ToldBranch) -> Iterator[str]:
    from api.commands.tables import printable

    yield f"branch       {told['branch']}"
    holds = f"{counted(told['changes'], 'change')} in {counted(told['plans'], 'plan')}"
    yield f"holds        {holds}, until {told['until']}"
    if (certificate := told.get("certificate")) is not None:
        yield f"certificate  {certificate}"
    if (verdict := told.get("verdict")) is not None:
        yield f"verdict      {verdict}, at head {told.get('head')}"
    if (why := told.get("why")) is not None:
        yield f"why          {printable(why)}"
    for finding in told.get("findings", ()):
        yield f"  {finding['severity']} {finding['code']}: {printable(finding['message'])}"
