"""What the tests of purges share: what is purged, how, and what is looked at afterwards."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final
from uuid import UUID

import pyoxigraph as ox

from bridge.base import Base
from bridge.reading.reader import QueryRequest
from bridge.stores.errors import open_store
from bridge.stores.pair import OxigraphStores, same_quads
from bridge.stores.places import store_directory
from bridge.stores.projections import Projection
from certificates.items import ItemKind, ItemTree
from certificates.proof import verify
from kernel.access import Principal
from kernel.changes import Assert, Request
from kernel.ports.purges import PurgeRecord
from kernel.purging.purger import PurgeRequest
from kernel.purging.targets import Target, TargetKind
from kernel.terms import Iri, Literal, Statement
from kernel.time.instants import BEGINNING
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing.projection import delta_between
from kernel.writing.submitting import Submission
from tests.bridge.writing import ADMINISTRATOR, ANN, PATIENCE, WRITER

SECRET: Final = Literal("Xyzzy the secret")
SAYS: Final = Iri("http://example.org/says")
SAID: Final = Statement(ANN, SAYS, SECRET, DEFAULT_GRAPH)
OTHER: Final = Iri("http://example.org/other-graph")
LETTER: Final = Iri("http://example.org/letter-xyzzy")


def fact_of(base: Base, statement: Statement) -> Target:
    with base.ledger.reading() as view:
        return Target(TargetKind.FACT, next(view.facts_ever(statement=statement)).id)


def purge(
    base: Base,
    target: Target,
    reason: str = "it has to go",
    by: Principal = ADMINISTRATOR,
    patience: float = PATIENCE,
) -> PurgeRecord:
    """Previews, and carries out what was previewed, within so many seconds."""
    digest = base.purges.preview(by, target).digest
    return base.purges.purge(PurgeRequest(target, reason, by, digest)).result(patience)


def tell(
    base: Base,
    *changes: Assert,
    reason: str | None = None,
    episode: Iri | None = None,
    key: str | None = None,
    by: Principal = WRITER,
) -> UUID:
    request = Request(changes, reason, episode, by.id)
    outcome = base.submit(Submission(request, by, key, repr(changes).encode(), dry_run=False)).result(PATIENCE)
    assert outcome.certificate is not None
    return outcome.certificate


def asked(base: Base, pattern: str, **times: str) -> bytes:
    """What SPARQL has, everywhere and in history."""
    query = f"SELECT * {{ {{ {pattern} }} UNION {{ GRAPH ?g {{ {pattern} }} }} }}"
    moment = base.reader.moment(times.get("as_of"), times.get("valid_at"))
    return base.reader.query(QueryRequest(ADMINISTRATOR, query, "text/csv"), moment).body


def everything(base: Base) -> bytes:
    """Every quad of both stores."""
    return b"".join(
        base.stores.read(each, lambda store: store.dump(format=ox.RdfFormat.N_QUADS) or b"")[0] for each in Projection
    )


def bytes_of(folder: Path) -> bytes:
    """Every file of a base that is closed, and what its stores hold, whose blocks may be compressed."""
    found = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    found += [str(path).encode() for path in folder.rglob("*")]
    for projection in Projection:
        found.append(
            open_store(store_directory(folder / "stores", projection)).dump(format=ox.RdfFormat.N_QUADS) or b""
        )
    return b"\n".join(found)


def sound(base: Base) -> None:
    """Every certificate, root and event of a base that is open verifies, and its stores are what its ledger says."""
    with base.ledger.reading() as view:
        for record in view.certificates(limit=1_000_000):
            certificate = verify(record.document, base.key.public)
            for kind, tree in ((ItemKind.PLAN, certificate.plan), (ItemKind.FINDING, certificate.findings)):
                leaves = view.leaves(record.id, kind)
                assert ItemTree.of(leaves) == tree
                for item in view.items(record.id, kind):
                    assert item.leaf == leaves[item.ordinal]
        anew = OxigraphStores.open(None)
        anew.load(delta_between(view, None, BEGINNING))
    for projection in Projection:
        made, _ = anew.read(projection, lambda store: store)
        assert base.stores.read(projection, partial(same_quads, made))[0], projection
