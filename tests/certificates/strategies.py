"""Generated certificates, records and events, and one key that signs them."""

from typing import Final
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from certificates.certificate import Certificate, Digests, Verdict
from certificates.events import Applied, Decided, Event, Issued, Stale
from certificates.items import ItemTree
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.keys import SigningKey
from certificates.records import Decision, DecisionKind, Recheck, Record
from certificates.revocation import RevocationReason

KEY: Final = SigningKey.from_bytes(bytes(range(32)))
NEXT_KEY: Final = SigningKey.from_bytes(bytes(range(64, 96)))
STRANGER: Final = SigningKey.from_bytes(bytes(range(32, 64)))
NOW: Final = "2026-05-06T07:08:09Z"
DIGEST: Final = "0f" * 32

digests: SearchStrategy[str] = st.binary(min_size=32, max_size=32).map(bytes.hex)
counts: SearchStrategy[int] = st.integers(0, 2**53 - 1)
positions: SearchStrategy[int | None] = st.none() | counts
identifiers: SearchStrategy[UUID] = st.uuids()


def _instant(moment: str, fraction: str) -> str:
    return f"{moment}.{fraction.rstrip('0')}Z" if fraction.strip("0") else f"{moment}Z"


instants: SearchStrategy[str] = st.builds(
    _instant,
    st.datetimes().map(lambda moment: moment.replace(microsecond=0).isoformat()),
    st.text("0123456789", max_size=6),
)


def _tree(count: int, root: str) -> ItemTree:
    return ItemTree(count, root) if count else ItemTree.of([])


trees: SearchStrategy[ItemTree] = st.builds(_tree, counts, digests)
verdicts: SearchStrategy[Verdict] = st.sampled_from(Verdict)

certificates: SearchStrategy[Certificate] = st.builds(
    Certificate,
    id=identifiers,
    issuer=st.just(KEY.public.did),
    base=identifiers,
    issued_at=instants,
    verdict=verdicts,
    base_head=positions,
    plan=trees,
    findings=trees,
    impact=trees,
    digests=st.builds(Digests, digests, digests, digests, digests, digests),
    predecessor=st.none() | identifiers,
)

records: SearchStrategy[Record] = st.builds(
    Decision,
    certificate=identifiers,
    certificate_digest=digests,
    decision=st.sampled_from(DecisionKind),
    editor=st.text(min_size=1, max_size=256).filter(str.isprintable),
    decided_at=instants,
    comment=st.none() | digests,
) | st.builds(
    Recheck,
    certificate=identifiers,
    at_head=positions,
    plan_root=digests,
    findings_root=digests,
    rechecked_at=instants,
)

events: SearchStrategy[Event] = (
    st.builds(Issued, identifiers, digests, verdicts, instants)
    | st.builds(Decided, identifiers, digests, st.sampled_from(DecisionKind), instants)
    | st.builds(Applied, identifiers, instants, positions, digests, st.none() | digests)
    | st.builds(Stale, identifiers, st.none() | identifiers, instants)
    | st.builds(KeyRotated.signed, identifiers, st.just(KEY), st.just(NEXT_KEY), instants)
    | st.builds(
        KeyRevoked.signed,
        identifiers,
        st.just(KEY.public),
        instants,
        st.sampled_from(RevocationReason),
        st.just(NEXT_KEY),
        instants,
    )
)

EXAMPLE: Final = Certificate(
    id=UUID("01890a5d-ac96-774b-bcce-b302099a8057"),
    issuer=KEY.public.did,
    base=UUID("01890a5d-0000-7000-8000-000000000001"),
    issued_at="2026-05-06T07:08:09.25Z",
    verdict=Verdict.REVIEW,
    base_head=41,
    plan=ItemTree(3, "1a" * 32),
    findings=ItemTree(2, "1b" * 32),
    impact=ItemTree(1, "1c" * 32),
    digests=Digests("2a" * 32, "2b" * 32, "2c" * 32, "2d" * 32, "2e" * 32),
    predecessor=UUID("01890a5d-ac96-774b-bcce-000000000000"),
)
"""One certificate in which every member is present and holds something of its own."""
