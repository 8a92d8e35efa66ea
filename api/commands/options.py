"""What several commands have in common: the data folder, and who works on it from the command line.

Rules
-----
* Whoever may open the folder may do everything: the command line acts as an administrator, named after the user, so
  that certificates say whose hand it was.
* A command that only reads never makes a base: a misspelt folder is an error.

Example
-------
>>> local_principal("ada").id
'local:ada'
"""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Annotated, Final

import typer

from kernel.access import Principal, Role
from kernel.errors import InvalidTerm, NotFound
from kernel.terms import Iri

LEDGER: Final = "ledger.sqlite"

Data = Annotated[
    Path,
    typer.Option(
        "--data", envvar="MUNIMENT_DATA", metavar="DIR", file_okay=False, help="The folder in which the base lies."
    ),
]

AcceptClock = Annotated[
    bool,
    typer.Option(
        "--accept-clock", help="Go on from the last recorded instant, although it is ahead of this host's clock."
    ),
]


def local_principal(user: str | None = None) -> Principal:
    """The administrator as whom the command line acts; by default named after the operating system's user."""
    return Principal(f"local:{user or _user()}", Role.ADMINISTRATOR)


def require_base(data: Path) -> Path:
    """The folder, if there is a base in it. Raises `NotFound`."""
    if not (data / LEDGER).is_file():
        raise NotFound(
            f"there is no base in {data}", remedy="check --data; `muniment serve` and `muniment load` make a base"
        )
    return data


def iri_option(option: str, text: str) -> Iri:
    """The IRI given as an option. Raises `InvalidTerm`, which names the option."""
    try:
        return Iri(text)
    except InvalidTerm as error:
        error.where = option
        raise


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in a container
        return str(os.getuid())
