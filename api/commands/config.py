"""`muniment config`: the settings in force, and where each comes from.

Example
-------
::

    MUNIMENT_PORT=9000 muniment config > muniment.toml      # a file that MUNIMENT_CONFIG may name
"""

from __future__ import annotations

import json
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from pydantic import BaseModel, SecretStr
from pydantic_core import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.settings import Settings, Sourced


def config() -> int:
    """Print the settings in force, and where each comes from: the environment, a file, or the default.

    What is printed is TOML, and can be kept as the file that MUNIMENT_CONFIG names.

    Example: muniment config
    """
    from api.settings import sourced_settings

    for line in in_words(sourced_settings()):
        typer.echo(line)
    return 0


def told_of_mode(settings: Settings) -> Iterator[str]:
    """What whoever starts a service is to know of its mode, unless it is the standard one. Raises `InvalidSetting`."""
    from api.callers.manifest import Mode

    if settings.mode is Mode.UNRESTRICTED:
        yield "UNRESTRICTED: no limits on the time, memory and answers of queries, and none on rates"
    manifest = None if settings.manifest is None else settings.read_manifest()
    if manifest is not None:
        yield f"bounded by {settings.manifest}, reviewed by {manifest.reviewed}; SHA-256 {manifest.digest}"


def in_words(sourced: Sourced) -> Iterator[str]:
    """The settings as lines of TOML, each after what it is for. Raises `InvalidSetting`."""
    from api.named_bases import is_alone, settings_of_bases

    yield from (f"# {line}" for line in told_of_mode(sourced.settings))
    for name, each in settings_of_bases(sourced.settings, alone=is_alone(sourced)).items():
        yield f"# base {name}: in {each.data}, with {each.query_workers} workers for queries"
        yield from (f"# base {name}: {line}" for line in told_of_mode(each))
    for name, field in type(sourced.settings).model_fields.items():
        yield f"# {field.description}; {sourced.origins.get(name, 'the default')}"
        value = getattr(sourced.settings, name)
        if isinstance(value, SecretStr):
            yield f"# {name} is set, and not shown"
            continue
        yield f"# {name} is not set" if value is None else f"{name} = {_toml(value)}"


def _toml(value: object) -> str:
    """A value as TOML has it; what it has not, as the text that the environment would have."""
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, Decimal | Path):
        return json.dumps(str(value))
    if isinstance(value, Enum):
        return json.dumps(value.value)
    if isinstance(value, list | tuple | set | frozenset):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, BaseModel | dict):
        return json.dumps(to_json(value, exclude_none=True).decode())
    return json.dumps(value)
