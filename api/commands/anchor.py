"""`muniment anchor`: a checkpoint of a base's log, kept where whoever runs the base cannot change it.

Rules
-----
* The file holds the newest checkpoint that was seen, and nothing else: `muniment audit --checkpoint` reads it, and a
  git repository, a mirror or another host may keep it.
* It is replaced only by a checkpoint that is proved to begin with it. A base that was put back, or whose log was
  rewritten, is told by that, and the file stays as it is.
* Witnesses that are named cosign it first, and are asked nothing else; if one does not, the file stays as it is.
* It is written beside and then renamed: whenever it is read, it is whole.

Example
-------
::

    muniment anchor anchor.txt --key key.json --token-file token && git commit --quiet --message anchor anchor.txt
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.commands.options import (
    SERVICE,
    KeyFile,
    TokenEnv,
    TokenFile,
    Url,
    named_token,
    named_url,
    public_key,
    text_of,
    within,
)
from api.commands.output import written_to

if TYPE_CHECKING:
    from certificates.checkpoints import Checkpoint
    from certificates.key_history import KeyHistory
    from certificates.keys import VerifyingKey


def anchor(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", dir_okay=False, help="Where the checkpoint is kept; made if need be.")
    ],
    *,
    key: KeyFile,
    url: Url = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
    witness: Annotated[
        list[str] | None,
        typer.Option(
            "--witness",
            metavar="'NAME+ID+KEY URL'",
            help="A witness to have the checkpoint cosigned by, as C2SP has it, before it is kept. May be repeated.",
        ),
    ] = None,
) -> int:
    """Keep the newest checkpoint of a running service's log, and see that the log only grew since the last one.

    To be run now and then, from a host that the service's operator does not rule. Exit status: 0 kept, 1 with the
    reason when the log was rewritten, or put back, or cannot be read.

    Example: muniment anchor anchor.txt --key key.json --token-file token
    """
    from api.commands.remote.connection import fetch_text
    from api.commands.witness import Witness, cosigned
    from certificates.key_history import KeyHistory
    from certificates.key_set import read_key_set

    witnesses = [Witness.parse(each) for each in witness or []]
    public, service = public_key(key), named_url(url) or SERVICE
    token = named_token(token_env, token_file)
    keys = read_key_set(fetch_text(service, token, "/keys", {}).encode(), public)
    before = _kept(file, keys)
    if before is None:
        note = fetch_text(service, token, "/log/checkpoint", {})
        after = _verified(note, KeyHistory.of(keys.current))
    else:
        proof = fetch_text(service, token, "/log/proof/consistency", {"from": str(before.size)})
        note, after = _grown(proof, before, keys.current)
    for each in witnesses:

        def prove(old: int, to: int = after.size) -> str:
            return fetch_text(service, token, "/log/proof/consistency", {"from": str(old), "to": str(to)})

        note = cosigned(note, after.origin, keys.current, each, prove, 0 if before is None else before.size)
    with written_to(file) as output:
        output.write(note.encode())
    grown = "kept for the first time" if before is None else f"begins with the {before.size} that were there before"
    by = "".join(f", cosigned by {each.key.name}" for each in witnesses)
    typer.echo(f"{after.size} entries in {after.origin}: {grown}{by}")
    return 0


def _kept(file: Path, keys: KeyHistory) -> Checkpoint | None:
    if not file.exists():
        return None
    with within(file):
        return _verified(text_of(file), keys)


def _verified(note: str, keys: KeyHistory) -> Checkpoint:
    from certificates.checkpoints import read_checkpoint

    return keys.verify_checkpoint(note, read_checkpoint(note).origin)


def _grown(proof: str, before: Checkpoint, key: VerifyingKey) -> tuple[str, Checkpoint]:
    """The newer checkpoint's note, and what it says."""
    from certificates.log_proofs import ConsistencyProof

    parsed = ConsistencyProof.parse(proof)
    return parsed.checkpoint, parsed.verify(before, key)
