"""`muniment doctor`: what is not as it should be with the installation, the host and a base, and what to do about it.

Rules
-----
* Everything is looked at, whatever was found before; nothing is changed.
* A port that is taken is in order if Muniment answers there. One that is free says nothing of a base that is being
  served: then it is said that the service is on another port, which is not known here.
* For programs there is `--json`: a list of objects with `check`, `grade`, `what` and `remedy`.

Example
-------
::

    muniment doctor --data data --json
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.options import folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.upkeep.diagnosis import Diagnosis

UNWELL: Final = 1

_OLDEST: Final = (3, 11)
_PATIENCE: Final = 2.0
"""Seconds that whoever listens on the port has to answer in."""


def doctor(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", envvar="MUNIMENT_DATA", metavar="DIR", parser=folder, help="The base's folder. [default: data]"
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=1, max=65535, help="The port that it serves on, or is to serve on. [default: 8350]"),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print it for programs.")] = False,
) -> int:
    """Look for what is not as it should be: installation, disk, port, clock, keys, ledger and stores.

    Exit status: 0 when nothing stands in the way of serving the base, 1 when something does.

    Example: muniment doctor --data data
    """
    from bridge.upkeep.diagnosis import Grade

    found = list(_found(data, port))
    if as_json:
        members = [
            {"check": each.check, "grade": each.grade.value, "what": each.what, "remedy": each.remedy} for each in found
        ]
        typer.echo(json.dumps(members, ensure_ascii=False, indent=1))
    else:
        for each in found:
            for line in _in_words(each):
                typer.echo(line)
    return UNWELL if any(each.grade is Grade.FAIL for each in found) else 0


def _found(data: Path | None, port: int | None) -> Iterator[Diagnosis]:
    from api.errors import InvalidSetting
    from api.settings import read_settings
    from bridge.upkeep.diagnosis import Diagnosis, Grade, examine, is_held

    yield python()
    yield libraries()
    try:
        settings = read_settings(data=data, port=port)
        given = settings.given_key
    except InvalidSetting as error:
        yield Diagnosis("settings", Grade.FAIL, f"{error.where}: {error.message}", error.remedy)
        return
    yield listening(settings.host, settings.port, served=is_held(settings.data))
    yield from examine(settings.data, given=given)


def python() -> Diagnosis:
    """Whether Python is new enough."""
    from bridge.upkeep.diagnosis import Diagnosis, Grade

    told = f"{platform.python_version()} on {platform.system()}, {sys.executable}"
    if sys.version_info < _OLDEST:
        return Diagnosis("python", Grade.FAIL, told, "install Python 3.11 or later")
    return Diagnosis("python", Grade.OK, told)


def libraries() -> Diagnosis:
    """Whether everything that Muniment needs is installed, in which versions."""
    from api.commands.unforeseen import libraries as installed
    from bridge.upkeep.diagnosis import Diagnosis, Grade

    found = installed()
    missing = [name for name, version in found.items() if version is None]
    if missing:
        return Diagnosis("libraries", Grade.FAIL, f"not installed: {', '.join(missing)}", "install Muniment again")
    return Diagnosis("libraries", Grade.OK, ", ".join(f"{name} {version}" for name, version in found.items()))


def listening(host: str, port: int, *, served: bool = False) -> Diagnosis:
    """Whether the port is free, or else Muniment's.

    Args:
        host: the address to listen on.
        port: the port.
        served: whether a process holds the base already.
    """
    from api.errors import InvalidSetting
    from api.server import listen
    from bridge.upkeep.diagnosis import Diagnosis, Grade

    try:
        listen(host, port).close()
    except InvalidSetting as error:
        health = _health(host, port)
        if health is None:
            return Diagnosis("port", Grade.FAIL, error.message, error.remedy)
        if health.get("status") != "ok":
            reason = health.get("reason") or health["status"]
            return Diagnosis(
                "port", Grade.FAIL, f"Muniment answers on port {port}, but not well: {reason}", "see its log"
            )
        return Diagnosis("port", Grade.OK, f"Muniment answers on port {port}")
    free = f"{port} on {host} is free"
    elsewhere = ": the process that holds the base serves on another, if at all; --port PORT asks there"
    return Diagnosis("port", Grade.OK, free + elsewhere if served else free)


def _health(host: str, port: int) -> dict[str, object] | None:
    """What `GET /health` says there; None if that is not Muniment."""
    import httpx2

    address = f"[{host}]" if ":" in host else host
    try:
        answer: object = httpx2.get(f"http://{address}:{port}/health", timeout=_PATIENCE, trust_env=False).json()
    except (httpx2.HTTPError, ValueError):
        return None
    return answer if isinstance(answer, dict) and {"status", "head", "behind"} <= answer.keys() else None


def _in_words(found: Diagnosis) -> Iterator[str]:
    from api.commands.tables import printable

    yield f"{found.grade.value:<5} {found.check:<10} {printable(found.what)}"
    if found.remedy is not None:
        yield f"{'':<16} → {printable(found.remedy)}"
