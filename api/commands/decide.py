"""`muniment decide`: an editor's approval or rejection of a certificate that waits in a running service.

Rules
-----
* What waits can be read before: on the review pages, or with `GET /certificates/{id}`.
* An approval is planned and judged again at the head of that moment; the answer says what came of it.

Example
-------
::

    muniment decide urn:uuid:01a22b47-1f91-7149-9fcd-effe40db5aac approve --comment "as in the gazette"
"""

from __future__ import annotations

from enum import StrEnum
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
    decision: Annotated[Decision, typer.Argument(help="Whether it is to be applied.")],
    *,
    comment: Annotated[
        str | None, typer.Option("--comment", metavar="TEXT", help="For those who will read the certificate.")
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
    from api.commands.remote import decide as decide_remotely
    from api.commands.submit import in_words

    members = {"decision": decision.value} | ({} if comment is None else {"comment": comment})
    token = named_token(token_env, token_file)
    told = decide_remotely(named_url(url) or SERVICE, token, certificate.removeprefix("urn:uuid:"), members)
    for line in in_words(told):
        typer.echo(line)
    return EXIT_STATUS[told["state"] or "pending"]
