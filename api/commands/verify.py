"""`muniment verify`: whether a certificate, a signed export or a checkpoint is authentic, and what it says; offline.

Rules
-----
* Only the files and the key are looked at: no base, no network.
* With the base's keys (`GET /keys`), what an older key signed is verified as well, if the key that is known is one of
  them. What a revoked key signed takes the proof that it was logged before; proofs are by the key that signs now.
* What the certificate cannot say is said too: whether and when it was applied stands in the log, and takes a proof.
* What `GET /certificates/{id}` tells beside the credential is held against it: items, decisions and whatever says again
  what is signed. What is signed nowhere is named.

Example
-------
::

    muniment verify certificate.json --key key.json --proof issued.tlog-proof --proof applied.tlog-proof
    muniment verify checkpoint.txt --key key.json
    muniment verify grown.txt --key key.json --since checkpoint.txt
"""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.options import KeyFile, content_of, public_key, text_of, within
from api.commands.progress import waiting
from certificates.errors import MalformedDocument
from certificates.ids import urn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from certificates.certificate import Certificate
    from certificates.checkpoints import Checkpoint
    from certificates.items import ItemTree
    from certificates.key_history import HeldKey, KeyHistory
    from certificates.keys import VerifyingKey
    from certificates.logged import Logged
    from certificates.told import Told

_LONGEST: Final = 2**28
"""Bytes of a document: signed exports, the largest of them, come to a few tens of millions."""

_VERDICTS = {
    "clear": "clear: nothing was found that stands in its way",
    "review": "review: it was to be applied only if an editor approved",
    "refused": "refused: it was not to be applied",
}


def verify(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="The certificate, decision, receipt, signed export, checkpoint or proof of consistency, as served.",
        ),
    ],
    key: KeyFile,
    keys: Annotated[
        Path | None,
        typer.Option(
            "--keys",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="All keys of the base, from GET /keys, if it had others before or after the one that you know.",
        ),
    ] = None,
    proof: Annotated[
        list[Path] | None,
        typer.Option(
            "--proof",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="With a certificate: that the log holds it, from GET /log/proof/inclusion. May be repeated.",
        ),
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option(
            "--since",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="With a proof of consistency, from GET /log/proof/consistency: the older checkpoint.",
        ),
    ] = None,
    witness: Annotated[
        list[str] | None,
        typer.Option(
            "--witness",
            metavar="NAME+ID+KEY",
            help="With a checkpoint: a witness that must have signed it too, as C2SP writes its key. May be repeated.",
        ),
    ] = None,
) -> int:
    """Tell whether a certificate, a signed export or a checkpoint is authentic, and what it says.

    Looks at the files alone. Exit status: 0 when all is authentic, 1 with the reason when something is not.

    Example: muniment verify certificate.json --key key.json --proof applied.tlog-proof
    """
    history = _history(public_key(key), keys)
    public = history.current
    document = content_of(file, _LONGEST)
    kind = _kind(document)
    _refuse_surplus(kind, proof=proof is not None, since=since is not None, witness=witness is not None)
    with within(file):
        if kind is Kind.EXPORT:
            lines = _export(document, history)
        elif kind is Kind.CHECKPOINT:
            lines = [_checkpoint(verified_checkpoint(document.decode(errors="replace"), public, witness or []))]
        elif kind is Kind.CONSISTENCY and since is not None:
            lines = _grown(document, since, public)
        elif kind is Kind.DECISION:
            lines = _decision(document, history)
        elif kind is Kind.RECEIPT:
            lines = _receipt(document, history)
        else:
            lines = _certificate(document, proof or [], history)
    for line in lines:
        typer.echo(line)
    return 0


class Kind(Enum):
    """What a file is, by how it begins: it is still to be verified."""

    CERTIFICATE = "a certificate"
    DECISION = "a decision"
    RECEIPT = "a receipt of a purge"
    EXPORT = "a signed export"
    CHECKPOINT = "a checkpoint"
    CONSISTENCY = "a proof of consistency"
    INCLUSION = "a proof of inclusion"


def _kind(document: bytes) -> Kind:
    from certificates.checkpoints import ORIGIN
    from certificates.log_proofs import INCLUSION

    if document.startswith(ORIGIN.encode()):
        return Kind.CHECKPOINT
    if document.startswith(b"old "):
        return Kind.CONSISTENCY
    if document.startswith(INCLUSION.encode()):
        return Kind.INCLUSION
    if b"MunimentExport" in document:
        from bridge.exporting import credential

        if credential.is_signed_export(document):
            return Kind.EXPORT
    return _kind_by_type(document)


def _kind_by_type(document: bytes) -> Kind:
    from certificates.receipt import RECEIPT_TYPE

    try:
        members = json.loads(document)
    except (ValueError, RecursionError):
        return Kind.CERTIFICATE
    said = members.get("type") if isinstance(members, dict) else None
    if said in ("Decision", "Recheck"):
        return Kind.DECISION
    return Kind.RECEIPT if isinstance(said, list) and RECEIPT_TYPE in said else Kind.CERTIFICATE


def _refuse_surplus(kind: Kind, *, proof: bool, since: bool, witness: bool) -> None:
    """An option that has nothing to say about the file would seem to have been checked."""
    if kind is Kind.INCLUSION:
        raise typer.BadParameter("a proof of inclusion goes with a certificate: name that, and this with --proof")
    if proof and kind is not Kind.CERTIFICATE:
        raise typer.BadParameter(f"a proof of inclusion goes with a certificate, and this is {kind.value}")
    if since != (kind is Kind.CONSISTENCY):
        raise typer.BadParameter("--since and a proof of consistency go together")
    if witness and kind is not Kind.CHECKPOINT:
        raise typer.BadParameter(f"a witness signs a checkpoint, and this is {kind.value}")


def _history(known: VerifyingKey, keys: Path | None) -> KeyHistory:
    """The keys to verify with: the one that is known, and those that a set leads to."""
    from certificates.key_history import KeyHistory
    from certificates.key_set import read_key_set

    if keys is None:
        return KeyHistory.of(known)
    with within(keys):
        return read_key_set(content_of(keys, _LONGEST), known)


def _signer(document: bytes, history: KeyHistory) -> HeldKey:
    """The key that a document's proof names; the one of now, if it names none of them, to be refused with."""
    try:
        method = json.loads(document).get("proof").get("verificationMethod")
    except (ValueError, RecursionError, AttributeError):
        method = None
    return history.named_by(str(method)) or history.keys[-1]


def _certificate(document: bytes, proofs: list[Path], history: KeyHistory) -> list[str]:
    """What a certificate says, and what the log says of it."""
    from certificates.log_proofs import InclusionProof
    from certificates.logged import logged, require_trust
    from certificates.proof import as_signed

    credential, told = _credential(document)
    held = _signer(credential, history)
    certificate, signed = as_signed(credential, held.key)
    lines, proved = list(in_words(certificate)), []
    for path in proofs:
        with within(path):
            proof = InclusionProof.parse(text_of(path))
            proved.append(logged(certificate, signed, proof, history.current))
    require_trust(held, proved)
    lines += [_of_key(held)] if held.rotated is not None else []
    lines += map(_logged, proved)
    if told is not None:
        lines += _told(told, certificate, signed, proved, history)
    if not any(line.startswith("applied") for line in lines):
        lines.append("Whether, and when, it was applied stands in the base's log: see --proof.")
    return lines


def _told(
    told: dict[str, object], certificate: Certificate, signed: bytes, proved: list[Logged], history: KeyHistory
) -> Iterator[str]:
    """What of the answer that the credential came in is as it was signed, and what is signed nowhere."""
    from certificates.told import hold_told

    held = hold_told(told, certificate, signed, lambda record: _key_of_record(record, history))
    names = {"credential", *held.names, *_hold_findings(told, held), *_hold_applied(told, proved)}
    for name, member, items in (("plan", "plan", held.plan), ("findings", "findingItems", held.findings)):
        if member not in told or not items.signed:
            continue
        if items.whole:
            withheld = items.told - len(items.bodies)
            yield f"{name:<10}  as signed{f', {withheld} withheld' if withheld else ''}"
        else:
            yield f"{name:<10}  {items.told} of {items.signed} are in the file: a part is not verified, only the whole"
    if held.decisions:
        others = "" if held.verified == held.decisions else ": the others are by keys that are revoked, or unknown"
        yield f"decisions   {held.verified} of {held.decisions} as signed{others}"
    if unsigned := sorted(told.keys() - names):
        yield f"not signed  {', '.join(unsigned)}: what the file says of these is not verified"


def _key_of_record(record: Mapping[str, object], history: KeyHistory) -> VerifyingKey | None:
    """The key that a decision names, if it is known and was not revoked."""
    proof = record.get("proof")
    held = history.named_by(str(proof.get("verificationMethod"))) if isinstance(proof, dict) else None
    return None if held is None or held.revoked is not None else held.key


def _hold_findings(told: dict[str, object], held: Told) -> Iterator[str]:
    """The name of `findings`, if they say what their items say; nothing where these are not all there."""
    from api import answers
    from certificates.findings import Finding
    from certificates.told import differs

    if "findings" not in told or not held.findings.whole:
        return
    expected = [answers.finding(Finding.from_body(body)) for _, body in sorted(held.findings.bodies.items())]
    if told["findings"] != expected:
        raise differs("findings")
    yield "findings"


def _hold_applied(told: dict[str, object], proved: list[Logged]) -> Iterator[str]:
    """The names of what a proof shows of the certificate's fate; nothing without one."""
    from certificates.events import Applied
    from certificates.told import differs

    for each in proved:
        if isinstance(each.event, Applied):
            expected = {"state": "applied", "head": each.position, "instant": each.event.at}
            for name in expected.keys() & told.keys():
                if told[name] != expected[name]:
                    raise differs(name)
            yield from expected


def _decision(document: bytes, history: KeyHistory) -> list[str]:
    """What a decision or a re-check says, as `decisions` of a certificate has it under `record`."""
    from certificates.logged import require_trust
    from certificates.records import Decision, verify_record

    held = _signer(document, history)
    record = verify_record(document, held.key)
    require_trust(held)
    lines = [f"authentic: it is as the service signed it, about {urn(record.certificate)}"]
    if not isinstance(record, Decision):
        return [*lines, f"re-checked  {record.rechecked_at}: the same plan and findings came out"]
    lines += [f"decision    {record.decision.value}, {record.decided_at}", f"editor      {record.editor}"]
    lines.append(f"certificate sha256 {record.certificate_digest}")
    own = (
        "not signed by the editor"
        if record.signed is None
        else f"signed by the editor with {record.signed.key.multibase}"
    )
    return [*lines, f"own key     {own}"]


def _receipt(document: bytes, history: KeyHistory) -> list[str]:
    """What the receipt of a purge says, one line each."""
    from certificates.logged import require_trust
    from certificates.receipt import verify as verify_receipt

    held = _signer(document, history)
    receipt = verify_receipt(document, held.key)
    require_trust(held)
    places = {"erased": receipt.erased, "absent": receipt.absent, "not reached": receipt.not_reached}
    return [
        f"authentic: {urn(receipt.id)} is a receipt as its issuer signed it",
        f"issuer      {receipt.issuer}",
        f"issued at   {receipt.issued_at}",
        f"base        {urn(receipt.base)}",
        f"certificate {urn(receipt.certificate)}",
        f"status      {receipt.status.value}",
        f"gone        facts: {receipt.facts}, items of certificates: {receipt.items}",
        *(f"{name:11} {', '.join(listed)}" for name, listed in places.items() if listed),
    ]


def _of_key(held: HeldKey) -> str:
    if held.revoked is None:
        return "key         one that the base signed with before"
    return f"key         revoked since {held.revoked.since}; the log had this before"


def _logged(found: Logged) -> str:
    from certificates.events import Applied

    event, checkpoint = found.event, found.checkpoint
    place = f"at position {found.position} of {checkpoint.size} in {checkpoint.origin}"
    if isinstance(event, Applied):
        return f"applied     {event.at}, as head:{found.position}, {place}"
    return f"logged      as {type(event).__name__.lower()} {event.at}, {place}"


def verified_checkpoint(note: str, key: VerifyingKey, witnesses: Sequence[str] = ()) -> Checkpoint:
    """The checkpoint in a file, if the key has signed it, and each witness: of whatever base it says."""
    from certificates.checkpoints import read_checkpoint, verify_checkpoint
    from certificates.notes import NoteKey

    return verify_checkpoint(note, read_checkpoint(note).origin, key, [NoteKey.parse(each) for each in witnesses])


def _checkpoint(checkpoint: Checkpoint) -> str:
    return f"authentic: a log of {checkpoint.size} entries, root {checkpoint.root.hex()}, in {checkpoint.origin}"


def _grown(document: bytes, since: Path, key: VerifyingKey) -> list[str]:
    """That the log of a checkpoint begins with that of an older one."""
    from certificates.log_proofs import ConsistencyProof

    with within(since):
        before = verified_checkpoint(text_of(since), key)
    after = ConsistencyProof.parse(document.decode(errors="replace")).verify(before, key)
    return [_checkpoint(after), f"It begins with the log of {before.size} entries: nothing of that was changed."]


def _export(document: bytes, history: KeyHistory) -> list[str]:
    """What a signed export says, one line each."""
    from bridge.exporting import credential
    from certificates.logged import require_trust
    from kernel.time.instants import print_instant

    with waiting("verifying"):
        held = _signer(document, history)
        verified = credential.verify(document, held.key)
        require_trust(held)
    heading = verified.heading
    head = "the base before any certificate was applied" if heading.head is None else f"head:{heading.head}"
    return [
        f"authentic: {urn(heading.id)} is an export as its issuer signed it",
        f"issuer      {heading.issuer}",
        f"issued at   {print_instant(heading.issued_at)}",
        f"base        {urn(heading.base)}",
        f"graph       {heading.graph.value}",
        f"as of       {head}",
        f"valid at    {print_instant(heading.valid_at)}",
        f"statements  {verified.statements}",
    ]


def _credential(data: bytes) -> tuple[bytes, dict[str, object] | None]:
    """The signed document, also out of what `GET /certificates/{id}` says about it, and that if it came in it."""
    from certificates.closed import unique

    try:
        document = json.loads(data, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return data, None  # whoever verifies says what is wrong with it
    if not isinstance(document, dict):
        return data, None
    credential = document.get("credential")
    if isinstance(credential, dict):
        return json.dumps(credential).encode(), document
    if "proof" not in document:
        raise MalformedDocument(
            "it is not signed: there is no proof in it",
            remedy="name a certificate, as `GET /certificates/{id}` serves it, or an export made with --signed",
        )
    return data, None


def in_words(certificate: Certificate) -> Iterator[str]:
    """What a certificate says, one line each."""
    digests = certificate.digests
    yield f"authentic: {urn(certificate.id)} is as its issuer signed it"
    yield f"issuer      {certificate.issuer}"
    yield f"issued at   {certificate.issued_at}"
    yield f"base        {urn(certificate.base)}"
    yield f"verdict     {_VERDICTS[certificate.verdict.value]}"
    if certificate.base_head is None:
        yield "judged at   the first state of the base, before any certificate was applied"
    else:
        yield f"judged at   head:{certificate.base_head}"
    if certificate.predecessor is not None:
        yield f"instead of  {urn(certificate.predecessor)}, which had become stale"
    yield _items("plan", certificate.plan)
    yield _items("findings", certificate.findings)
    yield _items("impact", certificate.impact)
    for name in digests.__slots__:
        yield f"{name:<10}  sha256 {getattr(digests, name)}"


def _items(name: str, tree: ItemTree) -> str:
    if not tree.count:
        return f"{name:<10}  none"
    return f"{name:<10}  {tree.count} {'item' if tree.count == 1 else 'items'}, root {tree.root}"
