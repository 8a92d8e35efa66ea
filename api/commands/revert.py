"""`muniment revert`: what a certificate did is undone, in a running service, by a certificate of its own.

Example
-------
::

    muniment revert urn:uuid:01a22b47-1f91-7149-9fcd-effe40db5aac --reason 'loaded twice'
"""

from __future__ import annotations

from typing import Annotated

import typer

from api.commands.options import SERVICE, TokenEnv, TokenFile, Url, named_token, named_url


def revert(
    certificate: Annotated[
        str, typer.Argument(metavar="ID", help="The certificate's id, as `muniment submit` told it.")
    ],
    *,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="For those who will read the new certificate.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge only: nothing is signed, kept or applied.")] = False,
    url: Url = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
) -> int:
    """Undo what a certificate did, in a running service: it is planned, judged and certified like any change.

    Exit status: 0 applied; 2 in review, 3 refused; 1 an error, or a later certificate stands in the way.

    Example: muniment revert urn:uuid:01a22b47-1f91-7149-9fcd-effe40db5aac --token-file token
    """
    from api.commands.load import EXIT_STATUS
    from api.commands.remote.outcomes import revert as revert_remotely
    from api.commands.submit import in_words

    token = named_token(token_env, token_file)
    identifier = certificate.removeprefix("urn:uuid:")
    told = revert_remotely(named_url(url) or SERVICE, token, identifier, reason, dry_run=dry_run)
    for line in in_words(told):
        typer.echo(line)
    return EXIT_STATUS[told["state"] or "applied"]
