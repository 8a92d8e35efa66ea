"""`muniment serve`: a base over HTTP, or several.

Rules
-----
* One process holds the base. It says where it listens in one line on standard output, and logs to standard error.
* SIGTERM and SIGINT end it in order: requests that run are answered, what is queued is written, the base is closed.
* Bases that have a name are served under `/b/NAME`, each as if it were alone (`api.bases`). The one at the root is
  served beside them where its folder is named.
* What is not given is taken from the environment (`MUNIMENT_DATA`, `MUNIMENT_PORT`, …), then from the defaults.

Example
-------
::

    muniment serve --data data --port 8350
    muniment serve --base one=bases/one --base two=bases/two
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.commands.options import AcceptClock, folder
from api.commands.progress import waiting
from api.http.paths import BASES
from kernel.errors import InvalidParameter

if TYPE_CHECKING:
    from fastapi import FastAPI

    from api.settings import Settings


def serve(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DIR", parser=folder, help="The base's folder, made if need be. [default: ./data]"
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="The port; 0: any free one. [default: 8350]")
    ] = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="The address. [default: 127.0.0.1]")
    ] = None,
    *,
    base: Annotated[
        list[str] | None,
        typer.Option(
            "--base",
            metavar="NAME=DIR",
            help="A base to serve under /b/NAME; may be repeated. One at the root is served besides if --data says so.",
        ),
    ] = None,
    accept_clock: AcceptClock = False,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="NAME",
            help="standard; bounded, by a manifest; or unrestricted: no limits on queries and rates.",
        ),
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option("--manifest", metavar="FILE", help="What a bounded service has, and nothing else.")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="NAME", help="default, or unsafe-auto-approve: nothing waits for an editor."),
    ] = None,
) -> int:
    """Serve a base over HTTP until told to stop, or several.

    All but --accept-clock can also be set in the environment: MUNIMENT_DATA, MUNIMENT_PORT, MUNIMENT_HOST and so on.

    Example: muniment serve --data data --port 8350
    """
    from api.bases import Bases
    from api.commands.config import told_of_mode
    from api.named_bases import is_alone, settings_of_bases
    from api.server import listen
    from api.server import serve as serve_bases
    from api.settings import sourced_settings

    sourced = sourced_settings(
        data=data, port=port, host=host, policy=policy, mode=mode, manifest=manifest, bases=_named(base or [])
    )
    settings = sourced.settings
    alone = is_alone(sourced)
    named = settings_of_bases(settings, alone=alone)
    listen(settings.host, settings.port).close()  # the stores may take long; a port that is taken is told before
    for each in ([] if alone else [settings]) + [*named.values()]:
        for line in told_of_mode(each):
            typer.echo(f"muniment: {each.data}: {line}", err=True)
    with ExitStack() as opened:
        with waiting("opening the base and bringing the stores up to the ledger"):
            at_root = None if alone else _opened(opened, settings, accept_clock=accept_clock)
            others = {name: _opened(opened, each, accept_clock=accept_clock, name=name) for name, each in named.items()}
        app = Bases(at_root, others) if others or at_root is None else at_root
        served = [str(settings.data)] * (not alone) + [f"{each.data} as {name}" for name, each in named.items()]
        ended = serve_bases(app, settings, lambda url: typer.echo(f"muniment serves {', '.join(served)} on {url}"))
    if not ended:
        # The base is closed and the ledger whole; the interpreter would wait for the threads of endless queries.
        os._exit(0)
    return 0


def _named(options: list[str]) -> dict[str, dict[str, str]] | None:
    """The bases that the command line names. Raises `InvalidParameter`."""
    named: dict[str, dict[str, str]] = {}
    for each in options:
        name, equals, folder = each.partition("=")
        if not equals or not folder or name in named:
            raise InvalidParameter(
                f"{each[:80]!r} names no base, or one twice", remedy="write NAME=DIR", where="--base"
            )
        named[name] = {"data": folder}
    return named or None


def _opened(stack: ExitStack, settings: Settings, *, accept_clock: bool, name: str | None = None) -> FastAPI:
    """The application of a base, which is closed with the stack."""
    from api.app import create_app
    from bridge.base import Base

    base = Base.open(
        settings.data,
        policy=settings.verdict_policy,
        accept_clock=accept_clock,
        key=settings.given_key,
        issuer=settings.issuer,
    )
    stack.enter_context(base)
    return create_app(base, settings, root="" if name is None else f"{BASES}{name}")
