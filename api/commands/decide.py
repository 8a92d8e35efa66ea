"""`muniment decide`: an editor's approval or rejection of a certificate that waits in a running service.

Rules
-----
* What waits can be read before: on the review pages, or with `GET /certificates/{id}`.
* An approval is planned and judged again at the head of that moment; the answer says what came of it.
* With a key of the editor's own, what is signed is the certificate as the service serves it: of other bytes, it would
  refuse the signature.

Example
-------
::

    muniment decide urn:uuid:01a22b47-1f91-7149-9fcd-effe40db5aac approve --comment "as in the gazette"
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from api.commands.options import SERVICE, TokenEnv, TokenFile, Url, named_token, named_url


class Decision(StrEnum):
    """What an editor may decide."""

    APPROVE = "approve"
    REJECT = "reject"


def decide(
    certificate: Annotated[
        str, typer.Argument(metavar="ID", help="The certificate's id, as `muniment submit` told it.")
    ],
    decision: Annotated[Decision, typer.Argument(metavar="DECISION", help="Whether it is to be applied.")],
    *,
    comment: Annotated[
        str | None, typer.Option("--comment", metavar="TEXT", help="For those who will read the certificate.")
    ] = None,
    sign_with: Annotated[
        Path | None,
        typer.Option(
            "--sign-with",
            metavar="FILE",
            dir_okay=False,
            help="Your own private Ed25519 key, PKCS #8 in PEM, yours alone: the decision is signed with it, too.",
        ),
    ] = None,
    url: Url = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
) -> int:
    """Approve or reject a change that waits for an editor in a running service.

    Exit status: 0 applied; 3 rejected; 4 stale, because the base has moved on; 1 an error.

    Example: muniment decide urn:uuid:01a22b47-1f91-7149-9fcd-effe40db5aac approve --token-file token
    """
    from api.commands.load import EXIT_STATUS
    from api.commands.remote.outcomes import decide as decide_remotely
    from api.commands.submit import in_words

    members = {"decision": decision.value} | ({} if comment is None else {"comment": comment})
    token, service, identifier = (
        named_token(token_env, token_file), named_url(url) or SERVICE, certificate.removeprefix("urn:uuid:"),
    )  # fmt: skip
    if sign_with is not None:
        members["signature"] = _signed(service, token, identifier, decision, sign_with)
    told = decide_remotely(service, token, identifier, members)
    for line in in_words(told):
        typer.echo(line)
    return EXIT_STATUS[told["state"] or "pending"]


def _signed(service: str, token: str | None, certificate: str, decision: Decision, key: Path) -> str:
    """The editor's signature over a decision, in base64."""
    from base64 import b64encode
    from urllib.parse import quote
    from uuid import UUID

    from api.commands.remote.connection import fetch_text
    from certificates.canonical import digest_hex
    from certificates.keys import SigningKey
    from certificates.records import DecisionKind, editor_statement
    from kernel.errors import InvalidParameter

    signer = SigningKey.load(key)
    document = fetch_text(service, token, f"/certificates/{quote(certificate, safe='')}", {}, accept="application/vc")
    try:
        identifier = UUID(certificate)
    except ValueError:
        raise InvalidParameter(
            "it is no id of a certificate", remedy="give the one that was told", where="ID"
        ) from None
    statement = editor_statement(identifier, digest_hex(document.encode()), DecisionKind(decision.value))
    return b64encode(signer.sign(statement)).decode()
