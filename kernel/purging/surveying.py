"""What a purge would take, looked for and counted; its digest binds the purge to what was previewed.

Rules
-----
* The digest is over all that goes, by name and in order, and over where something stays that quotes it. So a purge that
  is carried out with it is the one that somebody has seen.
* There has to be something: facts, evidence, items, a certificate that waits, a staged load, or an idempotency key.

Example
-------
::

    survey = survey_of(view, target, staged)
    survey.counts["facts"], survey.digest
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from certificates.canonical import canonical_json, digest_hex
from certificates.items import ItemKind
from kernel.errors import NothingToPurge
from kernel.ports.purges import Erasure
from kernel.purging.queries import with_queries
from kernel.purging.quoting import quotes_of
from kernel.purging.search import Search
from kernel.purging.staying import staying
from kernel.purging.targets import TargetKind, graph_stays, held_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from kernel.ports.ledger import LedgerView
    from kernel.purging.quoting import Quotes
    from kernel.purging.targets import Target
    from kernel.writing.deferred import Deferred

COUNTED: Final = (
    "facts", "evidence", "planItems", "findings", "impactRows", "comments", "certificates", "rejected", "stagedLoads",
)  # fmt: skip
"""What is counted of a purge."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a purge would take.

    Args:
        erasure: all of it.
        rejected: certificates that wait and would be rejected.
        quotes: finds what quotes it.
        in_words: whether everything was searched for that could be quoted.
        graph_stays: whether a graph is left that has the name of the node.
        stays: where else something quotes it that stays, in words.
        digest: over all of it, in hexadecimal.
    """

    erasure: Erasure
    rejected: tuple[UUID, ...]
    quotes: Quotes
    in_words: bool
    graph_stays: bool
    stays: tuple[str, ...]
    digest: str

    @property
    def counts(self) -> dict[str, int]:
        """How much of what."""
        kinds = Counter(kind for _, kind, _ in self.erasure.items)
        return {
            "facts": len(self.erasure.facts),
            "evidence": len(self.erasure.evidence),
            "planItems": kinds[ItemKind.PLAN],
            "findings": kinds[ItemKind.FINDING],
            "impactRows": kinds[ItemKind.IMPACT],
            "comments": kinds[ItemKind.COMMENT],
            "certificates": len(self.erasure.certificates),
            "rejected": len(self.rejected),
            "stagedLoads": len(self.erasure.sessions),
        }


def survey_of(view: LedgerView, target: Target, staged: Iterable[tuple[str, Sequence[Deferred]]]) -> Survey:
    """What a purge would take at the head of the view.

    Args:
        view: the ledger.
        target: of what.
        staged: every load session that is staged, chunk by chunk.

    Raises:
        NotFound, TooManyChanges: as `held_of` does.
        NothingToPurge: nothing is held of it, and nothing quotes it.
    """
    held = held_of(view, target)
    quotes, in_words = quotes_of(view, target, held)
    held = with_queries(view, target, held)
    search = Search(view, target, held, quotes)
    items = search.items()
    rejected = tuple(sorted(search.waiting()))
    sessions = tuple(sorted({name for name, chunk in staged if search.has(name, chunk)}))
    keys = tuple(own for own in view.keys_kept() if quotes.within(canonical_json(own[1])))
    if not (held.facts or held.evidence or items or rejected or sessions or keys):
        raise NothingToPurge(
            "nothing is held of this, and nothing quotes it",
            remedy="check what is to be purged",
            where=target.kind.value,
        )
    certificates = tuple(sorted({certificate for certificate, _, _ in items} | set(rejected)))
    graph = target.iri if target.kind is TargetKind.GRAPH else None
    erasure = Erasure(held.facts, held.evidence, items, certificates, sessions, keys, graph)
    stays = staying(view, target, held, quotes)
    told = {
        "of": target.kind.value,
        "target": target.text,
        "facts": [str(fact.id) for fact in held.facts],
        "evidence": [str(item.content.id) for item, _ in held.evidence],
        "items": [[str(certificate), kind.value, ordinal] for certificate, kind, ordinal in items],
        "rejected": [str(each) for each in rejected],
        "sessions": list(sessions),
        "keys": [list(own) for own in keys],
        "stays": list(stays),
    }
    digest = digest_hex(canonical_json(told))
    return Survey(erasure, rejected, quotes, in_words, graph_stays(view, target, held), stays, digest)
