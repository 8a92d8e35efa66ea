"""The commands put together, and how they leave.

Rules
-----
* What a command answers goes to standard output; progress and errors go to standard error.
* An error that is foreseen is one line that says what is wrong, where, and what to do; it is never a traceback.
* A command's function answers its exit status, and imports what it needs when it runs: `--help` must not wait for that.

Exit status: 0 done; 1 an error; 64 the command line itself was wrong. `muniment load` has more: 2 in review, 3 refused
or rejected, 4 stale. `muniment audit`: 1 faults, 2 no audit.

Example
-------
::

    muniment load facts.ttl --data data --graph https://example.org/g
    muniment query 'SELECT * { ?s ?p ?o } LIMIT 5' --data data
"""

from __future__ import annotations

from typing import Final

import typer

from api.commands.audit import audit
from api.commands.key import key
from api.commands.load import load
from api.commands.query import query
from api.commands.rebuild import rebuild
from api.commands.serve import serve
from api.commands.token import token
from api.commands.verify import verify
from certificates.errors import CertificateError
from kernel.errors import MunimentError

FAILED: Final = 1
USAGE: Final = 64
"""For a command line that cannot be read (`EX_USAGE` of BSD's sysexits)."""

_MISREAD: Final = 2
"""What typer leaves with in that case; here 2 has a meaning of its own."""


class _Done(Exception):
    """A command has answered."""

    def __init__(self, status: int) -> None:
        self.status = status


def _done(status: int) -> None:
    raise _Done(status)


app = typer.Typer(
    name="muniment",
    help="An RDF knowledge graph in which every change is planned, checked, certified, and only then applied.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    result_callback=_done,
)
app.command()(serve)
app.command()(load)
app.command()(query)
app.command()(verify)
app.command()(key)
app.command()(rebuild)
app.command()(audit)
app.add_typer(token, name="token")


def run() -> int:
    """Runs the command that the command line names; answers the exit status."""
    try:
        app()
    except _Done as done:
        return done.status
    except SystemExit as leaving:
        return USAGE if leaving.code == _MISREAD else int(leaving.code or 0)
    except (MunimentError, CertificateError) as error:
        typer.echo(f"muniment: {error}", err=True)
    except OSError as error:
        typer.echo(f"muniment: {error.filename or 'input or output'}: {error.strerror}", err=True)
    return FAILED
