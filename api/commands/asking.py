"""Options that many commands share, and what they come to: above all, the service that a command asks.

Rules
-----
* A command takes what they come to as its first parameter. It is given the options in the place of that, after its own.
* `asking` gives it `--url`, `--token-env` and `--token-file`. What they name is looked up when the command runs, in the
  environment too, and never for `--help`.

Example
-------
::

    @purge.command()
    @careful
    @asking
    def show(service: Asked, purge: PurgeArgument) -> int: ...
"""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

from api.commands.options import SERVICE, TokenEnv, TokenFile, Url, named_token, named_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

P = ParamSpec("P")
T = TypeVar("T")


class Asked(NamedTuple):
    """A running service, and the token to ask it with, if there is one."""

    url: str
    token: str | None


def with_options(
    options: Mapping[str, object], made: Callable[..., T]
) -> Callable[[Callable[Concatenate[T, P], int]], Callable[P, int]]:
    """What gives a command options in the place of its first parameter.

    Args:
        options: the annotation of each, by name; each is None where it is not given.
        made: takes all of them by name, and gives what the command takes instead. What it raises, the command raises.
    """

    def within(command: Callable[Concatenate[T, P], int]) -> Callable[P, int]:
        @wraps(command)
        def run(*given: P.args, **named: P.kwargs) -> int:
            first = made(**{name: named.pop(name, None) for name in options})
            return command(first, *given, **named)

        # Typer reads signature and annotations: they have to be those of what is to be called.
        own = signature(command, eval_str=True)
        _, *kept = own.parameters.values()
        added = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in options.items()
        ]
        shown = own.replace(parameters=[*kept, *added])
        run.__signature__ = shown  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in shown.parameters.values()} | {"return": int}
        return run

    return within


def _asked(url: str | None, token_env: str | None, token_file: Path | None) -> Asked:
    return Asked(named_url(url) or SERVICE, named_token(token_env, token_file))


asking: Final = with_options({"url": Url, "token_env": TokenEnv, "token_file": TokenFile}, _asked)
"""Gives a command the options that name a service. What it raises beside its own: as `named_token` does."""
