"""Staging: the files of a load session become durable chunks of changes, from which the session is then applied.

Rules
-----
* Everything is read and canonicalised here, in order, and kept chunk by chunk; memory is bounded by the chunk. After a
  kill the same call goes on at the first chunk that is not there.
* A session is named by a digest over what it will do: the files' digests and formats, the options, who asks, and the
  version of the format. The same files loaded again are the same session, and the base answers with the certificate
  that it gave before.
* `again` asks for another attempt at the same files. An attempt that was interrupted is gone on with, `again` or not.
* A line that cannot be loaded refuses the load, unless the options say to leave such lines out; either way each of them
  is told. A load that is refused here leaves nothing staged.
* One session is staged at a time: what others left behind, unless a certificate in review still needs it, is dropped.

Example
-------
::

    staged = stage_files(base.ledger, [Path("facts.nt")], options, principal, Watch(refusals, progress))
    outcome = base.load(LoadRequest(staged.request, principal, lambda planned: None)).result()
"""

from __future__ import annotations

from dataclasses import dataclass
from secrets import token_bytes
from typing import TYPE_CHECKING, Final

from bridge.loading.files import FileReader, LoadFile
from bridge.loading.refusals import Refusal
from bridge.loading.staging import CHUNK_FORMAT, decode_seed, encode_changes
from certificates.canonical import canonical_json, digest_hex
from kernel.changes import Request
from kernel.errors import InvalidDocument
from kernel.ports.records import CertificateState
from kernel.terms import Literal
from kernel.writing.loading import session_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from bridge.loading.options import LoadOptions
    from bridge.loading.refusals import Refusals
    from kernel.access import Principal
    from kernel.changes import Assert
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.records import CertificateRecord
    from kernel.writing.deferred import Deferred

CHUNK: Final = 4_000
"""Changes in a chunk: what reading and planning hold in memory at once."""

CHUNK_TEXT: Final = 4 * 2**20
"""Characters of literals after which a chunk ends all the same."""

SESSION_FORMAT: Final = 1
"""Part of every session's id: raised when the same files come to be read, cut or named differently."""

_PAGE: Final = 200
_SEED_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told how staging goes.

    Args:
        refusals: gets what cannot be loaded.
        progress: told how many bytes are read, and of how many.
        resumed: told how many chunks are there already, when an interrupted session is gone on with.
    """

    refusals: Refusals
    progress: Callable[[int, int], None]
    resumed: Callable[[int], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Staged:
    """A session that is ready to be applied.

    Args:
        request: what to load.
        changes: how many are staged; None when the session was answered before, and nothing had to be.
    """

    request: Request
    changes: int | None


def stage_files(
    ledger: Ledger, files: Sequence[Path], options: LoadOptions, principal: Principal, watch: Watch
) -> Staged:
    """Stages files as one load session.

    Args:
        ledger: of the base; the chunks are durable when this returns.
        files: in the order in which their facts are to be recorded.
        options: how to read them.
        principal: who asks; what it may not write is refused line by line.
        watch: told about refusals and progress.

    Raises:
        InvalidParameter: a file of a format that is not read.
        InvalidDocument: there is nothing to load, a line cannot be loaded, or a file changed while it was read.
        OSError: a file cannot be read.
    """
    opened = [LoadFile.of(path) for path in files]
    session, answered = _attempt(ledger, _digest(opened, options, principal), principal, again=options.again)
    request = Request((), options.reason, options.episode, principal.id, session)
    if answered:
        return Staged(request, None)
    drop_abandoned(ledger, session)
    if kept := ledger.staged_chunks(session):
        watch.resumed(kept)
    seed = _seed(ledger, session)
    items = FileReader(options, principal, seed).read(opened, watch.progress)
    try:
        changes = stage(ledger, session, seed, _accepted(items, watch.refusals, skip=options.skip_invalid))
        for file in opened:
            file.require_unchanged()
    except InvalidDocument:
        ledger.unstage(session)
        raise
    return Staged(request, changes)


def _seed(ledger: Ledger, session: str) -> bytes:
    """The seed of a session that was interrupted, or a new one."""
    chunk = next(ledger.staged(session), None)
    return token_bytes(_SEED_BYTES) if chunk is None else decode_seed(chunk)


def stage(ledger: Ledger, session: str, seed: bytes, changes: Iterator[Deferred]) -> int:
    """Keeps the changes chunk by chunk, from the first chunk that is not there; answers how many changes there are."""
    kept = ledger.staged_chunks(session)
    staged = 0
    for number, chunk in enumerate(_chunks(changes)):
        if number >= kept:
            ledger.stage(session, number, encode_changes(chunk, seed))
        staged += len(chunk)
    if not staged:
        raise InvalidDocument("there is nothing in the files that could be loaded", remedy="check the files")
    return staged


def _chunks(changes: Iterator[Deferred]) -> Iterator[list[Deferred]]:
    """The changes cut into chunks: always in the same places."""
    chunk: list[Deferred] = []
    text = 0
    for change in changes:
        chunk.append(change)
        value = change.statement.object
        if isinstance(value, Literal):
            text += len(value.lexical)
        if len(chunk) == CHUNK or text >= CHUNK_TEXT:
            yield chunk
            chunk, text = [], 0
    if chunk:
        yield chunk


def _accepted(items: Iterable[Assert | Refusal], refusals: Refusals, *, skip: bool) -> Iterator[Assert]:
    """What can be loaded. When all of a load is refused, the rest is only looked through for more refusals.

    Raises:
        InvalidDocument: at the end, if something was refused that may not, or cannot, be left out.
    """
    refused = whole = False
    for item in items:
        if isinstance(item, Refusal):
            refusals.add(item)
            whole = whole or item.ends_file
            refused = refused or not skip or whole
        elif not refused:
            yield item
    if refused:
        count = refusals.total
        raise InvalidDocument(
            f"{count} {'line' if count == 1 else 'lines'} cannot be loaded, so nothing was",
            remedy=f"mend the lines listed{'' if whole else ', or leave them out with --skip-invalid'}",
            refused=count,
        )


def _digest(files: Sequence[LoadFile], options: LoadOptions, principal: Principal) -> str:
    """What the session will do, as a digest."""
    formats = [SESSION_FORMAT, CHUNK_FORMAT, CHUNK, CHUNK_TEXT]
    contents = [[file.suffix, file.digest] for file in files]
    return digest_hex(canonical_json([formats, contents, options.told(), principal.id]))


def _attempt(ledger: Ledger, digest: str, principal: Principal, *, again: bool) -> tuple[str, bool]:
    """The session to stage or to answer with, and whether it was answered before.

    What came to nothing is no answer to who asks again: shapes, or what is held, may have changed since.
    """
    number, stands = 0, False
    with ledger.reading() as view:
        while (entry := view.idempotent(principal.id, session_key(_name(digest, number)))) is not None:
            record = view.certificate(entry.certificate)
            stands = record is not None and record.state in {CertificateState.APPLIED, CertificateState.PENDING}
            number += 1
    if not stands or again or ledger.staged_chunks(_name(digest, number)):
        return _name(digest, number), False
    return _name(digest, number - 1), True


def _name(digest: str, attempt: int) -> str:
    return f"{digest}.{attempt}" if attempt else digest


def drop_abandoned(ledger: Ledger, session: str) -> None:
    """Drops what is staged for other sessions that nothing waits for."""
    left = set(ledger.staged_sessions()) - {session}
    if left:
        with ledger.reading() as view:
            left.difference_update(record.request.session for record in _pending(view) if record.request is not None)
    for abandoned in left:
        ledger.unstage(abandoned)


def _pending(view: LedgerView) -> Iterator[CertificateRecord]:
    page = view.certificates(state=CertificateState.PENDING, limit=_PAGE)
    while page:
        yield from page
        page = view.certificates(state=CertificateState.PENDING, after=page[-1].id, limit=_PAGE)
