"""`muniment rebuild`: both stores made anew from the ledger.

Rules
-----
* The stores are projections: the ledger alone is the truth, and it is only read. A server may go on meanwhile.
* They are made in a new folder. To use them, stop the server and put that folder in the place of `stores`.
* `--check` compares them with the stores in use, quad for quad and at the same clock, so it needs the base for itself.

Example
-------
::

    muniment rebuild --data data --into data/stores-new --check
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.commands.options import LEDGER, Data, folder, given_key, require_base
from api.commands.progress import waiting
from kernel.errors import DamagedBase

if TYPE_CHECKING:
    from bridge.base import Base
    from bridge.stores.projections import Projection
    from kernel.time.instants import Instant


@dataclass(frozen=True, slots=True)
class StandingClock:
    """A host's clock that stands still, so that no fact begins or ends while stores are compared."""

    instant: Instant

    def now(self) -> Instant:
        """The instant at which it stands."""
        return self.instant


def rebuild(
    data: Data,
    into: Annotated[
        Path,
        typer.Option("--into", metavar="DIR", parser=folder, help="The folder to make the stores in: new, or empty."),
    ],
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Compare them, quad for quad, with the stores in use.")
    ] = False,
) -> int:
    """Make both stores anew from the ledger, in another folder.

    Exit status: 0 done, and with --check the same; 1 an error, or different.

    Example: muniment rebuild --data data --into stores-new --check
    """
    with waiting("rebuilding"):
        if check:
            _rebuild_and_compare(require_base(data), into)
        else:
            _rebuild(require_base(data), into)
    typer.echo(f"rebuilt into {into}{', quad for quad the same as the stores in use' if check else ''}")
    return 0


def _rebuild(data: Path, into: Path) -> None:
    from bridge.host import SystemClock
    from bridge.ledger.sqlite import SqliteLedger
    from bridge.stores.pair import rebuild as rebuild_stores

    with closing(SqliteLedger.open(data / LEDGER, SystemClock())) as ledger:
        ledger.require_sound()
        with ledger.reading() as view:
            rebuild_stores(view, into)


def _rebuild_and_compare(data: Path, into: Path) -> None:
    from bridge.base import Base
    from bridge.host import SystemClock
    from bridge.stores.pair import rebuild as rebuild_stores
    from bridge.stores.projections import Projection

    standing = StandingClock(SystemClock().now())
    with Base.open(data, accept_clock=True, host=standing, key=given_key(data)) as base:
        with base.ledger.reading() as view:
            rebuild_stores(view, into)
        different = [projection.value for projection in Projection if not _is_same(base, into, projection)]
    if different:
        raise DamagedBase(
            f"the {' and the '.join(different)} store in use differs from the ledger",
            remedy=f"put {into} in the place of the stores in use",
        )


def _is_same(base: Base, into: Path, projection: Projection) -> bool:
    from bridge.stores.errors import open_store
    from bridge.stores.pair import same_quads

    rebuilt = open_store(into / projection.value)
    return base.stores.read(projection, lambda live: same_quads(live, rebuilt))[0]
