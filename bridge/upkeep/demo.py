"""The demo base: real facts, brought in the way anybody's are, from data files that come with Muniment.

Rules
-----
* Ontology, shapes and rules come first, as ordinary changes, so that the facts are judged by them. Then each source is
  a load session of its own, which all its facts cite. Then queries are registered that somebody relies on. Last, some
  incoming changes are submitted, so that there is something to review, and it says whose answers change.
* Every step can be repeated and then answers with the certificate that it has: a filling that was interrupted goes on
  where it was. Once all is done a mark says so, and nothing is brought in again.
* A demo base is known by its mark, a file in its folder. No other folder is filled, or emptied: neither one that holds
  another base nor one that holds anything else.

Example
-------
::

    prepare(folder)
    with Base.open(folder) as base:
        if not is_filled(folder):
            fill(base, print)
            set_filled(folder)
"""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bridge.documents.changes_json import read_changes
from bridge.documents.queries import read_file
from bridge.documents.reader import read_document
from bridge.impact.registering import Asking
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusals
from bridge.loading.session import Watch, stage_files
from bridge.lock import DirectoryLock
from kernel.access import Principal, Role
from kernel.changes import Assert, Request
from kernel.errors import Conflict, DamagedBase, InvalidParameter
from kernel.facts import Validity
from kernel.ports.records import CertificateState
from kernel.terms import Iri
from kernel.vocabulary import ONTOLOGY_GRAPH, RULES_GRAPH, SHAPES_GRAPH
from kernel.writing.loading import LoadRequest
from kernel.writing.submitting import Submission

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.resources.abc import Traversable

    from bridge.base import Base
    from kernel.queries import RegisteredQuery
    from kernel.writing.submitting import Outcome

ROOT: Final = files("ontology") / "demo"
"""Where the data files lie."""

GOVERNANCE: Final = (
    (ROOT / "ontology.ttl", ONTOLOGY_GRAPH, "The ontology of the demo"),
    (files("shapes") / "demo.ttl", SHAPES_GRAPH, "The shapes of the demo"),
    (ROOT / "rules.ttl", RULES_GRAPH, "The rules of the demo"),
)

LIBRARIAN: Final = Principal("demo-librarian", Role.ADMINISTRATOR)
"""Who brings in what the base holds from the start."""

NEWSDESK: Final = Principal("demo-newsdesk", Role.WRITER)
"""Who submits what comes in afterwards."""

MARK: Final = "demo.json"
NEW_MARK: Final = f"{MARK}.new"
TOKEN: Final = "token"  # noqa: S105 - the name of a file
_FILLED: Final = {"demo": "offices and their holders", "filled": True}
_BEGUN: Final = _FILLED | {"filled": False}
_PARTS: Final = (
    "stores",
    "keys",
    "ledger.sqlite",
    "ledger.sqlite-wal",
    "ledger.sqlite-shm",
    "ledger.seal",
    TOKEN,
    "lock",
    NEW_MARK,
    MARK,
)
"""What a demo base's folder holds; the mark last, so that an emptying that was interrupted can be repeated."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source and the files of what it says.

    Args:
        episode: the source's IRI, which all of the facts cite.
        reason: for those who read the certificate.
        files: under `facts`, in order.
    """

    episode: Iri
    reason: str
    files: tuple[str, ...]


def sources() -> tuple[Source, ...]:
    """The sources, in the order in which they are loaded: what comes later may refer to what came earlier."""
    listed = json.loads((ROOT / "manifest.json").read_text(encoding="utf-8"))["sources"]
    return tuple(Source(Iri(each["episode"]), each["reason"], tuple(each["files"])) for each in listed)


def submitted() -> tuple[str, ...]:
    """The incoming changes that are submitted from the start, by name; the others are for whoever tries the demo."""
    names: list[str] = json.loads((ROOT / "manifest.json").read_text(encoding="utf-8"))["submitted"]
    return tuple(names)


def incoming() -> dict[str, Traversable]:
    """All incoming changes, by name."""
    found = {each.name.removesuffix(".json"): each for each in (ROOT / "incoming").iterdir()}
    return dict(sorted(found.items()))


def registered() -> list[RegisteredQuery]:
    """The queries that somebody relies on."""
    found = sorted((ROOT / "registered").iterdir(), key=lambda file: file.name)
    return [read_file(each.name, each.read_text(encoding="utf-8")) for each in found]


def fill(base: Base, progress: Callable[[int, int], None]) -> None:
    """Brings in everything that is not there yet.

    Args:
        base: of the demo, open.
        progress: told how many steps of how many are done.

    Raises:
        DamagedBase: something of the demo was not applied.
    """
    steps: list[Callable[[], None]] = [
        *(lambda each=each: _govern(base, *each) for each in GOVERNANCE),
        *(lambda each=each: _load(base, each) for each in sources()),
        lambda: _register(base),
        *(lambda each=each: _submit(base, each) for each in submitted()),
    ]
    for done, step in enumerate(steps):
        progress(done, len(steps))
        step()
    progress(len(steps), len(steps))


def prepare(folder: Path) -> None:
    """Makes the folder of a demo base, if it is not one. Raises `Conflict` for a folder with anything else in it."""
    if is_demo(folder):
        return
    if folder.exists() and (not folder.is_dir() or any(each.name != NEW_MARK for each in folder.iterdir())):
        raise Conflict(
            f"{folder} holds something that is no demo base", remedy="name another folder for the demo with --data"
        )
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _mark(folder, _BEGUN)


def is_demo(folder: Path) -> bool:
    """Whether the folder is a demo base's."""
    return _marked(folder) in (_BEGUN, _FILLED)


def is_filled(folder: Path) -> bool:
    """Whether everything has been brought in."""
    return _marked(folder) == _FILLED


def set_filled(folder: Path) -> None:
    """Says that everything has been brought in."""
    _mark(folder, _FILLED)


def empty(folder: Path) -> None:
    """Removes a demo base; a folder that is not there is left so.

    Raises:
        InvalidParameter: it is no demo base.
        BaseInUse: it is being served.
    """
    if not folder.exists():
        return
    if not is_demo(folder):
        raise InvalidParameter(
            f"{folder} is no demo base, and nothing in it is removed",
            remedy="name the demo's folder, or remove this one yourself",
            where="--data",
        )
    with DirectoryLock(folder / "lock"):
        for name in _PARTS:
            part = folder / name
            if part.is_dir():
                shutil.rmtree(part)
            else:
                part.unlink(missing_ok=True)
    with suppress(OSError):  # something of somebody else's is left in it
        folder.rmdir()


def _marked(folder: Path) -> object:
    try:
        return json.loads((folder / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _mark(folder: Path, mark: dict[str, object]) -> None:
    """Written beside and then renamed: a mark is there whole, or as it was."""
    written = folder / NEW_MARK
    written.write_text(json.dumps(mark) + "\n", encoding="utf-8")
    written.replace(folder / MARK)


# --- the steps --------------------------------------------------------------------------------------------------------


def _govern(base: Base, file: Traversable, graph: Iri, reason: str) -> None:
    body = file.read_bytes()
    asserted = read_document(body, "text/turtle", graph=graph, canonicaliser=base.canonicaliser)
    changes = tuple(Assert(statement, Validity.always(), spelling) for statement, spelling in asserted)
    outcome = _ask(base, Request(changes, reason, None, LIBRARIAN.id), LIBRARIAN, body)
    _require_applied(outcome, file.name)


def _load(base: Base, source: Source) -> None:
    options = LoadOptions(reason=source.reason, episode=source.episode)
    paths = [Path(str(ROOT / "facts" / name)) for name in source.files]
    staged = stage_files(base.ledger, paths, options, LIBRARIAN, Watch(Refusals(), lambda _, __: None))
    outcome = base.load(LoadRequest(staged.request, LIBRARIAN, lambda _: None)).result()
    _require_applied(outcome, source.reason)


def _register(base: Base) -> None:
    reason = "Queries that somebody relies on"
    outcome, _ = base.queries.put(registered(), Asking(LIBRARIAN, reason)).result()
    if outcome.certificate is not None:  # else they are registered already
        _require_applied(outcome, "registered queries")


def _submit(base: Base, name: str) -> None:
    body = incoming()[name].read_bytes()
    _ask(base, read_changes(body, principal=NEWSDESK.id, canonicaliser=base.canonicaliser), NEWSDESK, body)


def _ask(base: Base, request: Request, principal: Principal, body: bytes) -> Outcome:
    """Submits under a key that is the content's own, so that it is asked once."""
    digest = sha256(body)
    return base.submit(Submission(request, principal, f"demo:{digest.hexdigest()}", digest.digest(), False)).result()


def _require_applied(outcome: Outcome, what: str) -> None:
    if outcome.state is not CertificateState.APPLIED:
        raise DamagedBase(
            f"the demo's {what} was not applied: {outcome.verdict.value}",
            remedy="start the demo over: muniment demo --reset",
        )
