"""Receipts of purges for tests: one, any, and edits of one, each of which changes a statement or the proof."""

from typing import Final
from uuid import UUID

from hypothesis import strategies as st

from certificates.receipt import Receipt, ReceiptStatus
from tests.certificates.edits import OF_THE_PROOF, OTHER_DIGEST, OTHER_ID, Document, Edit, drop, put, subject
from tests.certificates.strategies import KEY, STRANGER

EXAMPLE: Final = Receipt(
    id=UUID("01890a5d-ac96-774b-bcce-b302099a8057"),
    issuer=KEY.public.did,
    issued_at="2026-05-06T07:08:09.25Z",
    base=UUID("01890a5d-ac96-774b-bcce-b302099a8058"),
    certificate=UUID("01890a5d-ac96-774b-bcce-b302099a8059"),
    status=ReceiptStatus.COMPLETE,
    facts=12,
    items=15,
    digest="0a" * 32,
    erased=("complete store", "facts"),
    absent=("comments",),
    not_reached=("backups", "other hosts"),
)

_PLACES: Final = st.lists(st.from_regex(r"[a-z][a-z -]{0,20}[a-z]", fullmatch=True), max_size=4).map(
    lambda places: tuple(sorted(set(places)))
)
_COUNTS: Final = st.integers(0, 2**53 - 1)

receipts: Final = st.builds(
    Receipt,
    id=st.uuids(),
    issuer=st.just(KEY.public.did),
    issued_at=st.sampled_from(["2026-05-06T07:08:09.25Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"]),
    base=st.uuids(),
    certificate=st.uuids(),
    status=st.sampled_from(ReceiptStatus),
    facts=_COUNTS,
    items=_COUNTS,
    digest=st.binary(min_size=32, max_size=32).map(bytes.hex),
    erased=_PLACES,
    absent=_PLACES,
    not_reached=_PLACES,
)


def _moved(one: str, other: str) -> Edit:
    """A place is said to be of another kind."""

    def edit(document: Document) -> None:
        said = document["credentialSubject"]
        said[other] = sorted([*said[other], said[one].pop()])

    return edit


EDITS: Final[dict[str, Edit]] = {
    "another receipt": put("id", OTHER_ID),
    "another issuer": put("issuer", STRANGER.public.did),
    "issued at another instant": put("issuedAt", "2026-05-06T07:08:09.26Z"),
    "never issued": drop("issuedAt"),
    "another type": put("type", ["VerifiableCredential"]),
    "a member that no context defines": put("unheardOf", "x"),
    "a context that redefines the status": lambda document: document["@context"].append(
        {"status": "https://example.org/status"}
    ),
    "another meaning of a word": lambda document: document["@context"][1].update(
        erased={"@id": "https://w3id.org/muniment#absentFrom"}
    ),
    "another erasure": subject(put("id", OTHER_ID)),
    "another base": subject(put("base", OTHER_ID)),
    "another purge": subject(put("certificate", OTHER_ID)),
    "no purge": subject(drop("certificate")),
    "not yet complete": subject(put("status", "pending")),
    "no status": subject(drop("status")),
    "more facts": subject(put("facts", "13")),
    "facts as they are not written": subject(put("facts", "012")),
    "no items": subject(put("items", "0")),
    "another digest": subject(put("digest", OTHER_DIGEST)),
    "gone from one place more": subject(put("erased", ["complete store", "current store", "facts"])),
    "gone from one place less": subject(put("erased", ["facts"])),
    "gone from nowhere": subject(drop("erased")),
    "nothing out of reach": subject(drop("notReached")),
    "a place that was not reached is said to have had nothing": _moved("notReached", "absent"),
    "a place that had nothing is said to be erased": _moved("absent", "erased"),
    **OF_THE_PROOF,
}
