"""`muniment policy`: what decides on changes here, and what decided on one.

Rules
-----
* It reads the ledger in the base's folder; a service may run meanwhile. Nothing is written.
* `show` prints the policy in force as JSON, as it can be written to `m:policy` again. `explain` prints the verdict,
  then a line for each clause that decided.

Example
-------
::

    muniment policy explain 0197c9a4-… --data data
"""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from api.commands.careful import careful
from api.commands.options import LEDGER, Data, require_base

if TYPE_CHECKING:
    from pathlib import Path

    from bridge.ledger.sqlite import SqliteLedger

policy = typer.Typer(help="Tell what decides on changes, and which clause decided on one.", no_args_is_help=True)


@policy.command()
@careful
def show(data: Data) -> int:
    """Print the policy in force, as JSON.

    Example: muniment policy show --data data
    """
    from api.settings import read_settings
    from kernel.policy.graph import in_force
    from kernel.vocabulary import POLICY_GRAPH

    with closing(_ledger(data)) as ledger, ledger.reading() as view:
        chosen = in_force([*view.believed(graph=POLICY_GRAPH)], read_settings(data=data).verdict_policy)
    typer.echo(json.dumps(chosen.describe(), indent=2))
    return 0


@policy.command()
@careful
def explain(
    certificate: Annotated[str, typer.Argument(metavar="CERT", help="The id of a certificate.")], data: Data
) -> int:
    """Print which clauses of the policy decided on a certificate.

    Example: muniment policy explain 0197c9a4-5f5c-7c6e-9d9a-3f6b0c2d1e00 --data data
    """
    from api.routes.certificates import certificate_named
    from api.settings import read_settings
    from bridge.review.policy_explaining import explained

    with closing(_ledger(data)) as ledger, ledger.reading() as view:
        said = explained(view, certificate_named(certificate), read_settings(data=data).verdict_policy)
    typer.echo(f"{said.verdict.value}, by the policy with digest {said.digest}")
    if said.policy is None:
        typer.echo("no policy with this digest is known any more: neither that of m:policy, nor the configured one")
    elif not said.reasons:
        typer.echo("nothing that was found is held against it")
    for decision, clause in said.reasons:
        typer.echo(f"{decision}: {json.dumps(clause)}")
    if said.purged:
        what = "item was purged: it" if said.purged == 1 else "items were purged: they"
        typer.echo(f"of its findings and its plan {said.purged:,} {what} may have decided as well")
    return 0


def _ledger(data: Path) -> SqliteLedger:
    from bridge.host import SystemClock
    from bridge.ledger.sqlite import SqliteLedger

    return SqliteLedger.open(require_base(data) / LEDGER, SystemClock())
