"""What every command does first: it refuses an environment with a variable of ours that means nothing.

Rules
-----
* A misspelt variable would pass for one that is set, whichever command is run. `muniment doctor` alone goes on, for it
  lists that with whatever else it finds; help and version are there in any environment.
* It counts as a wrong command line: the exit status says so, for 1 and 2 have meanings of their own in some commands.

Example
-------
::

    app.command()(careful(load))
"""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING, Final, ParamSpec

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

USAGE: Final = 64
"""Exit status for a command line or an environment that cannot be read (`EX_USAGE` of BSD's sysexits)."""

_PREFIX: Final = "MUNIMENT_"

P = ParamSpec("P")


def careful(command: Callable[P, int]) -> Callable[P, int]:
    """The command, which runs unless the environment is refused."""

    @wraps(command)
    def run(*given: P.args, **named: P.kwargs) -> int:
        if any(name.upper().startswith(_PREFIX) for name in os.environ):  # else nothing of it need be imported
            from api.errors import InvalidSetting
            from api.settings import refuse_unknown_variables

            try:
                refuse_unknown_variables()
            except InvalidSetting as error:
                typer.echo(f"muniment: {error}", err=True)
                return USAGE
        return command(*given, **named)

    return run
