"""`muniment key`: the public key of a base, for those who verify its certificates.

Example
-------
::

    muniment key --data data > key.json
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from api.commands.options import Data, require_base


def key(
    data: Data,
    *,
    multibase: Annotated[bool, typer.Option("--multibase", help="Print the z6Mk… text alone.")] = False,
) -> int:
    """Print the public key of a base, as a Multikey document.

    Works while a server runs on the same folder.

    Example: muniment key --data data > key.json
    """
    from bridge.base import SIGNING_KEY
    from certificates.keys import SigningKey

    public = SigningKey.load(require_base(data) / SIGNING_KEY).public
    typer.echo(public.multibase if multibase else json.dumps(public.multikey(), indent=2))
    return 0
