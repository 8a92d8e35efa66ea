"""What several commands have in common: the data folder, and who works on it from the command line.

Rules
-----
* Whoever may open the folder may do everything: the command line acts as an administrator, named after the user, so
  that certificates say whose hand it was.
* A command that only reads never makes a base: a misspelt folder is an error.
* A token is named, never given, for a command line is no secret: it is in a variable, or in a file that its owner alone
  can read.
* What speaks to a service takes from the environment what the command line leaves out: `MUNIMENT_URL` and
  `MUNIMENT_TOKEN_FILE`. What is named on the command line goes before the environment, and there a folder before a URL.
* A folder and a service, both named on the command line, are an error, and so is a token where a folder is asked.

Example
-------
>>> local_principal("ada").id
'local:ada'
"""

from __future__ import annotations

import getpass
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.progress import waiting
from certificates.errors import CertificateError, UnreadableKey
from kernel.access import Principal, Role
from kernel.errors import BaseInUse, InvalidDocument, InvalidParameter, InvalidTerm, MunimentError, NotFound
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.base import Base
    from bridge.signing.keys import GivenKey
    from certificates.keys import VerifyingKey

LEDGER: Final = "ledger.sqlite"
DATA_VARIABLE: Final = "MUNIMENT_DATA"
URL_VARIABLE: Final = "MUNIMENT_URL"
TOKEN_FILE_VARIABLE: Final = "MUNIMENT_TOKEN_FILE"  # noqa: S105 - the name of a variable

_LONGEST_TOKEN: Final = 4096
"""Characters of a file that are looked at."""

_LONGEST_NOTE: Final = 2**20
"""Bytes of a key, checkpoint or proof, which have some thousands."""


def folder(named: str) -> Path:
    """A folder, there or not yet. Raises `BadParameter` for a file, and for no name at all.

    A variable that is not set leaves an empty name, which would mean the working directory.
    """
    if not named:
        raise typer.BadParameter("it is empty: name a folder; . is the one that you are in")
    if os.path.exists(named) and not os.path.isdir(named):  # noqa: PTH110, PTH112 - these never raise
        raise typer.BadParameter(f"{named!r} is a file")
    return Path(named)


Data = Annotated[
    Path,
    typer.Option(
        "--data", envvar="MUNIMENT_DATA", metavar="DIR", parser=folder, help="The folder in which the base lies."
    ),
]

MaybeData = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", parser=folder, help=f"The base's folder. [default: ${DATA_VARIABLE}]"),
]

MaybeUrl = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help=f"A running service, instead of a folder. [default: ${URL_VARIABLE}]"),
]

SERVICE: Final = "http://127.0.0.1:8350"
"""Where a service is looked for that nobody names."""

Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help=f"The running service. [default: ${URL_VARIABLE}, or {SERVICE}]"),
]

TokenEnv = Annotated[
    str | None, typer.Option("--token-env", metavar="NAME", help="The environment variable that has the token.")
]

TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        dir_okay=False,
        help=f"The file that has the token; yours alone. [default: ${TOKEN_FILE_VARIABLE}]",
    ),
]

Output = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", dir_okay=False, help="Where to write it. [default: standard output]"),
]

AsOf = Annotated[str | None, typer.Option("--as-of", metavar="TIME|head:N", help="As known when. [default: now]")]

AcceptClock = Annotated[
    bool,
    typer.Option(
        "--accept-clock", help="Go on from the last recorded instant, although it is ahead of this host's clock."
    ),
]


KeyFile = Annotated[
    Path,
    typer.Option(
        "--key",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="The base's public key: a Multikey document, or its z6Mk… text alone. `muniment key` prints it.",
    ),
]
"""The key to verify with."""

AnchorFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="A checkpoint of the base's log that was kept elsewhere, as by `muniment anchor`: an older state of the"
        " base, or another history, is refused.",
    ),
]
"""What a base must begin with."""


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


def open_to_read(data: Path) -> Base:
    """The base in a folder, for a command that records nothing in it; so it does not matter whether the clocks agree.

    Raises:
        BaseInUse: a server holds it, which is to be asked then.
        NotFound: there is none.
        MunimentError: it cannot be opened.
    """
    from api.settings import read_settings
    from bridge.base import Base

    chosen = read_settings(data=data)
    try:
        with waiting("opening the base"):
            return Base.open(require_base(data), accept_clock=True, key=chosen.given_key, issuer=chosen.issuer)
    except BaseInUse as error:
        raise BaseInUse(error.message, remedy="ask the server that holds it: --url http://HOST:PORT") from error


def given_key(data: Path) -> GivenKey | None:
    """The key of a base that the settings give, or its file; None: it lies in the folder. Raises `InvalidSetting`."""
    from api.settings import read_settings

    return read_settings(data=data).given_key


def named_token(variable: str | None, file: Path | None) -> str | None:
    """The token in a variable, or in a file, or in the file that the environment names; None when none is named.

    Raises:
        InvalidParameter: both are named, there is no token there, or others may read the file.
        OSError: the file cannot be read.
    """
    if variable is not None and file is not None:
        raise InvalidParameter(
            "the token is named twice", remedy="give --token-env or --token-file", where="--token-env"
        )
    if variable is not None:
        token = os.environ.get(variable, "").strip()
        if not token:
            raise InvalidParameter(
                f"the variable {variable} is not set", remedy="put the token there", where="--token-env"
            )
        return token
    path = file or os.environ.get(TOKEN_FILE_VARIABLE)
    return _token_in(Path(path)) if path else None


def named_url(url: str | None) -> str | None:
    """The service that is named, here or in the environment; None where there is none."""
    return url or os.environ.get(URL_VARIABLE) or None


def folder_or_url(data: Path | None, url: str | None, *, token: bool) -> Path | str:
    """What is to be asked: a folder, or the URL of a service.

    Args:
        data: the folder of the command line.
        url: the service of the command line.
        token: whether the command line names a token.

    Raises:
        InvalidParameter: both are named on the command line, or a folder and a token, or nothing is named anywhere.
    """
    if data is not None and url is not None:
        raise InvalidParameter(
            "a folder and a service are both named", remedy="give --data DIR or --url URL, not both", where="--url"
        )
    if data is not None and token:
        raise InvalidParameter(
            "a token is named, and a folder asks for none", remedy="leave it out, or give --url URL instead of --data",
            where="--data",
        )  # fmt: skip
    if url is not None:
        return url
    folder = data or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    asked = folder or os.environ.get(URL_VARIABLE)
    if not asked:
        raise InvalidParameter("nothing is named that could be asked", remedy="give --data DIR or --url URL")
    return asked


def _token_in(file: Path) -> str:
    with file.open(encoding="ascii", errors="replace") as opened:
        mode = os.fstat(opened.fileno()).st_mode
        token = opened.read(_LONGEST_TOKEN).strip()
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidParameter(
            f"others than its owner may read {file}",
            remedy=f"run `chmod 600 {file}`, and revoke the token if somebody may have read it",
            where="--token-file",
        )
    if not token:
        raise InvalidParameter(f"there is no token in {file}", remedy="put one there", where="--token-file")
    return token


@contextmanager
def within(file: Path) -> Iterator[None]:
    """What is wrong with something in a file names the file too."""
    try:
        yield
    except (CertificateError, MunimentError) as error:
        if not (error.where or "").startswith(str(file)):
            error.where = f"{file}: {error.where}" if error.where else str(file)
        raise


def content_of(file: Path, most: int) -> bytes:
    """What is in a file that is held in memory whole. Raises `InvalidDocument` for one that cannot be meant."""
    with file.open("rb") as opened:
        content = opened.read(most + 1)
    if len(content) > most:
        raise InvalidDocument(f"more than {most:,} bytes", remedy="check which file is named", where=str(file))
    return content


def text_of(file: Path) -> str:
    """The text of a file that is small: a key, a checkpoint, a proof. Raises `InvalidDocument` for one that is not."""
    return content_of(file, _LONGEST_NOTE).decode(errors="replace")


def note_in(file: Path | None) -> str | None:
    """The text of a checkpoint's file, to be verified."""
    return None if file is None else text_of(file)


def public_key(file: Path) -> VerifyingKey:
    """The key in a file that `--key` names. Raises `UnreadableKey`, which names the file."""
    from certificates.keys import VerifyingKey

    with within(file):
        try:
            return VerifyingKey.from_multikey(text_of(file).strip())
        except UnreadableKey as error:
            error.remedy = "give --key the public key of the base, as `muniment key` prints it"
            raise


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
