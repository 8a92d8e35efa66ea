"""`muniment serve`: a base over HTTP.

Rules
-----
* One process holds the base. It says where it listens in one line on standard output, and logs to standard error.
* SIGTERM and SIGINT end it in order: requests that run are answered, what is queued is written, the base is closed.
* What is not given is taken from the environment (`MUNIMENT_DATA`, `MUNIMENT_PORT`, …), then from the defaults.

Example
-------
::

    muniment serve --data data --port 8350
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from api.commands.options import AcceptClock
from api.commands.progress import waiting


def serve(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DIR", file_okay=False, help="The base's folder, made if need be. [default: ./data]"
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="The port; 0: any free one. [default: 8350]")
    ] = None,
    host: Annotated[str | None, typer.Option("--host", help="The address. [default: 127.0.0.1]")] = None,
    *,
    accept_clock: AcceptClock = False,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="NAME", help="default, or unsafe-auto-approve: nothing waits for an editor."),
    ] = None,
) -> int:
    """Serve a base over HTTP until told to stop.

    Every option can also be set in the environment: MUNIMENT_DATA, MUNIMENT_PORT, MUNIMENT_HOST, MUNIMENT_POLICY.

    Example: muniment serve --data data --port 8350
    """
    from api.server import listen
    from api.server import serve as serve_base
    from api.settings import read_settings
    from bridge.base import Base

    settings = read_settings(data=data, port=port, host=host, policy=policy)
    listen(settings.host, settings.port).close()  # the stores may take long; a port that is taken is told before
    with waiting("bringing the stores up to the ledger"):
        base = Base.open(settings.data, policy=settings.verdict_policy, accept_clock=accept_clock)
    with base:
        ended = serve_base(base, settings, lambda url: typer.echo(f"muniment serves {settings.data} on {url}"))
    if not ended:
        # The base is closed and the ledger whole; the interpreter would wait for the threads of endless queries.
        os._exit(0)
    return 0
