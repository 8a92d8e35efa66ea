"""`muniment verify`: whether a certificate or a signed export is authentic, and what it says, in words; offline.

Rules
-----
* Only the file and the key are looked at: no base, no network.
* What the certificate cannot say is said too: whether and when it was applied stands in the log.

Example
-------
::

    muniment verify certificate.json --key key.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.commands.options import public_key, within
from api.commands.progress import waiting
from certificates.errors import MalformedDocument
from certificates.ids import urn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from certificates.certificate import Certificate
    from certificates.items import ItemTree
    from certificates.keys import VerifyingKey

_VERDICTS = {
    "clear": "clear: nothing was found that stands in its way",
    "review": "review: it was to be applied only if an editor approved",
    "refused": "refused: it was not to be applied",
}


def verify(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", exists=True, dir_okay=False, help="The certificate or signed export, as it was served."
        ),
    ],
    key: Annotated[
        Path,
        typer.Option(
            "--key",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="The base's public key: a Multikey document, or its z6Mk… text alone. `muniment key` prints it.",
        ),
    ],
) -> int:
    """Tell whether a certificate or a signed export is authentic, and what it says.

    Looks at the two files alone. Exit status: 0 when it is authentic, 1 with the reason when it is not.

    Example: muniment verify certificate.json --key key.json
    """
    from certificates.proof import verify as verified

    public = public_key(key)
    document = file.read_bytes()
    with within(file):
        lines = _export(document, public) or list(in_words(verified(_credential(document), public)))
    for line in lines:
        typer.echo(line)
    return 0


def _export(document: bytes, key: VerifyingKey) -> list[str]:
    """What a signed export says, one line each; nothing of any other document."""
    if b"MunimentExport" not in document:
        return []
    from bridge.exporting import credential
    from kernel.instants import print_instant

    if not credential.is_signed_export(document):
        return []
    with waiting("verifying"):
        verified = credential.verify(document, key)
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


def _credential(data: bytes) -> bytes:
    """The signed document, also out of what `GET /certificates/{id}` says about it."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data  # whoever verifies says what is wrong with it
    if not isinstance(document, dict):
        return data
    credential = document.get("credential")
    if isinstance(credential, dict):
        return json.dumps(credential).encode()
    if "proof" not in document:
        raise MalformedDocument(
            "it is not signed: there is no proof in it",
            remedy="name a certificate, as `GET /certificates/{id}` serves it, or an export made with --signed",
        )
    return data


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
    yield "It does not say whether, or when, it was applied: that stands in the base's log."


def _items(name: str, tree: ItemTree) -> str:
    if not tree.count:
        return f"{name:<10}  none"
    return f"{name:<10}  {tree.count} {'item' if tree.count == 1 else 'items'}, root {tree.root}"
