"""The audit from afar: what a stranger can check of a base over HTTP, by its log, its keys and its certificates.

Rules
-----
* Only what is fetched counts, and the key that the stranger knows. Nothing that the service says of itself is believed:
  its keys are followed from the one that is known, the tree is made anew from its entries, what stands in a certificate
  is held against what was signed and logged.
* The log's events are played: what is issued, decided and applied, in which order, each by the key of its time; and the
  state digest, as long as every plan item is there to see.
* What the caller may not see is not there for them. It is counted, and said. Facts, evidence, indexes and stores lie in
  the folder alone (`auditing.audit`).

Example
-------
::

    found = audit_from_afar(fetch, key, anchor)
    found.faults, found.notes
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from uuid import UUID

from bridge.auditing.audit import Audit
from bridge.auditing.faults import Faults
from bridge.auditing.slots import RunningTree
from certificates.canonical import canonical_json, digest_hex
from certificates.certificate import Verdict
from certificates.checkpoints import ORIGIN, Checkpoint, read_checkpoint, verify_checkpoint
from certificates.errors import CertificateError, WrongKey
from certificates.events import Applied, Decided, Issued, Stale, decode_event
from certificates.ids import parse_urn
from certificates.items import ItemTree
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.key_history import KeyHistory
from certificates.key_set import read_key_set
from certificates.lthash import LatticeHash
from certificates.merkle import HASH_SIZE, leaf_hash, tree_root
from certificates.proof import as_signed
from certificates.records import Decision, DecisionKind, Recheck, verify_record
from certificates.tiles import Tile, index_path, tiles_of, unbundle
from kernel.counting import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from certificates.certificate import Certificate
    from certificates.events import Event
    from certificates.keys import VerifyingKey

MOST_ITEMS: Final = 10_000
"""Items that are asked for at once."""

_NOT_SEEN: Final = "facts, evidence, indexes and stores lie in the folder, and were not looked at"


Fetch = Callable[[str, Mapping[str, str]], bytes | None]
"""What is at a path of the service, with parameters; None for what is not there, or not for the caller."""


@dataclass(slots=True)
class _Standing:
    """Where a certificate stands by the log so far."""

    verdict: Verdict
    digest: str
    approved: bool = False
    closed: bool = False
    seen: _Seen | None = None


@dataclass(slots=True)
class _Seen:
    """What was fetched of a certificate.

    Args:
        records: digests of its decisions and re-checks, of those that are as they were signed.
        recorded: facts of its plan, each with its leaf hash, and `superseded` ones; None where an item is missing.
    """

    records: dict[str, Decision | Recheck]
    recorded: list[tuple[bytes, bytes]] | None
    superseded: list[bytes] = field(default_factory=list)


def audit_from_afar(fetch: Fetch, known: VerifyingKey, anchor: str | None = None) -> Audit:
    """Audits a base that is served.

    Args:
        fetch: asks it.
        known: a key that it signs with, or did.
        anchor: a checkpoint of its log that was kept elsewhere.

    Raises:
        CertificateError: its keys or its checkpoint are not those of a base with that key: there is nothing to audit.
    """
    keys = read_key_set(_needed(fetch("/keys", {}), "/keys"), known)
    note = _needed(fetch("/log/checkpoint", {}), "/log/checkpoint").decode(errors="replace")
    checkpoint = verify_checkpoint(note, read_checkpoint(note).origin, keys.current)
    return _Afar(fetch, keys, checkpoint).audit(anchor)


class _Afar:
    def __init__(self, fetch: Fetch, keys: KeyHistory, checkpoint: Checkpoint) -> None:
        self._fetch = fetch
        self._keys = keys
        self._checkpoint = checkpoint
        self._found = Faults()
        self._standings: dict[UUID, _Standing] = {}
        self._head: int | None = None
        self._instant = ""
        self._state: LatticeHash | None = LatticeHash()
        self._leaves: dict[bytes, bytes] = {}
        self._unseen = 0

    def audit(self, anchor: str | None) -> Audit:
        anchored = self._anchor(anchor)
        hashes, entries = self._log(anchored)
        if entries is None:
            self._found.notes.append("entries are for tokens that may read every graph: no event was looked at")
        else:
            for position, (data, leaf) in enumerate(zip(entries, hashes, strict=True)):
                self._look_at_event(position, data, leaf)
            self._look_at_keys(entries)
        if self._unseen:
            self._found.notes.append(f"{counted(self._unseen, 'certificate')} not looked at, being not for this token")
        if self._state is None:
            self._found.notes.append("not every item can be seen: the state digest was not worked out to its end")
        self._found.notes.append(_NOT_SEEN)
        found = self._found
        return Audit(tuple(found.kept), found.total, found.counts, tuple(found.notes), afar=True)

    # --- the log ------------------------------------------------------------------------------------------------------

    def _anchor(self, anchor: str | None) -> Checkpoint | None:
        if anchor is None:
            return None
        try:
            return self._keys.verify_checkpoint(anchor, self._checkpoint.origin)
        except CertificateError as error:
            self._found.add("checkpoint", f"is none of this base's log: {error.message}")
            return None

    def _log(self, anchor: Checkpoint | None) -> tuple[list[bytes], list[bytes] | None]:
        """The leaf hashes of the log, which have its root, and its entries."""
        hashes: list[bytes] = []
        entries: list[bytes] | None = []
        below: dict[int, list[bytes]] = {}
        for tile in tiles_of(self._checkpoint.size):
            read = self._tile(tile)
            if tile.level == 0:
                hashes += read
                entries = None if entries is None else self._entries(tile, entries)
            else:
                expected = [tree_root(below[tile.level - 1][each * 256 : each * 256 + 256]) for each in
                            range(tile.index * 256, tile.index * 256 + tile.width)]  # fmt: skip
                self._found.differ(f"tile {tile.path}", "hashes", b"".join(read), b"".join(expected))
            below.setdefault(tile.level, []).extend(read)
        tree = RunningTree()
        for count, leaf in enumerate([*hashes, None]):
            if anchor is not None and count == anchor.size:
                self._found.counts.anchored = count
                if tree.root() != anchor.root:
                    self._found.add(
                        f"events 0 to {count - 1}", "are not those of the checkpoint: the log was rewritten"
                    )
            if leaf is not None:
                tree.append(leaf)
        if anchor is not None and anchor.size > len(hashes):
            self._found.add(
                f"events {len(hashes)}", f"the log ends here, and a checkpoint was signed for {anchor.size}"
            )
        if tree.root() != self._checkpoint.root:
            self._found.add("checkpoint", "its root is not that of the log's hashes")
        return hashes, entries

    def _tile(self, tile: Tile) -> list[bytes]:
        data = _needed(self._fetch(f"/log/tile/{tile.path}", {}), f"/log/tile/{tile.path}")
        if len(data) != tile.width * HASH_SIZE:
            self._found.add(f"tile {tile.path}", "has another width than its name")
            data = data.ljust(tile.width * HASH_SIZE, b"\0")[: tile.width * HASH_SIZE]
        return [data[start : start + HASH_SIZE] for start in range(0, len(data), HASH_SIZE)]

    def _entries(self, tile: Tile, before: list[bytes]) -> list[bytes] | None:
        data = self._fetch(f"/log/tile/entries/{index_path(tile.index, tile.width)}", {})
        if data is None:
            return None
        place = f"events from {tile.index * 256} on"
        with self._found.reading(place):
            read = unbundle(data)
            if len(read) == tile.width:
                return [*before, *read]
            self._found.add(place, f"are {len(read)}, and should be {tile.width}")
        return [*before, *([b""] * tile.width)]

    def _look_at_keys(self, entries: list[bytes]) -> None:
        """The log tells of the very keys that are published."""
        told: list[tuple[int, KeyRotated | KeyRevoked]] = []
        with self._found.reading("events"):
            for position, data in enumerate(entries):
                if b'"event":"key-' in data:
                    event = decode_event(data)
                    if isinstance(event, KeyRotated | KeyRevoked):
                        told.append((position, event))
            history = KeyHistory.follow(told, self._base, self._keys.current)
            if history != self._keys:
                self._found.add("keys", "the keys that are published are not those that the log tells of")

    @property
    def _base(self) -> UUID:
        return UUID(self._checkpoint.origin.removeprefix(ORIGIN))

    # --- events -------------------------------------------------------------------------------------------------------

    def _look_at_event(self, position: int, data: bytes, leaf: bytes) -> None:
        place = f"events {position}"
        if leaf_hash(data) != leaf:
            self._found.add(place, "the event has not the leaf hash of the log")
        with self._found.reading(place):
            self._play(place, position, decode_event(data))
            self._found.counts.events += 1

    def _play(self, place: str, position: int, event: Event) -> None:
        if isinstance(event, Issued):
            self._issued(place, position, event)
        elif isinstance(event, Decided | Applied | Stale):
            standing = self._standings.get(event.certificate)
            if standing is None or standing.closed:
                self._found.add(place, f"is about {event.certificate}, which does not wait for anything")
            elif isinstance(event, Decided):
                self._decided(place, event, standing)
            elif isinstance(event, Applied):
                self._applied(place, position, event, standing)
            else:
                standing.closed = True
                if not standing.approved:
                    self._found.add(place, f"makes {event.certificate} stale, which was not approved")
        elif not isinstance(event, KeyRotated | KeyRevoked):
            self._state = None  # of a purge: what left the state with it is not told

    def _issued(self, place: str, position: int, event: Issued) -> None:
        if event.certificate in self._standings:
            self._found.add(place, f"issues {event.certificate}, which was issued before")
        standing = self._standings[event.certificate] = _Standing(event.verdict, event.digest)
        standing.closed = event.verdict is Verdict.REFUSED
        with self._found.reading(f"certificate {event.certificate}"):
            standing.seen = self._look_at_certificate(f"certificate {event.certificate}", position, event)

    def _decided(self, place: str, event: Decided, standing: _Standing) -> None:
        if standing.verdict is not Verdict.REVIEW:
            self._found.add(place, f"decides on {event.certificate}, which did not wait for a decision")
        standing.approved = standing.approved or event.decision is DecisionKind.APPROVE
        standing.closed = event.decision is DecisionKind.REJECT
        self._look_at_record(place, event.digest, standing, Decision)

    def _applied(self, place: str, position: int, event: Applied, standing: _Standing) -> None:
        self._found.differ(place, "previous applied event", event.previous, self._head)
        if (standing.verdict is Verdict.REVIEW) != (event.recheck is not None) or (
            standing.verdict is Verdict.REVIEW and not standing.approved
        ):
            self._found.add(place, f"applies a certificate of verdict {standing.verdict.value} in another way")
        if event.recheck is not None:
            self._look_at_record(place, event.recheck, standing, Recheck)
        standing.closed, self._head = True, position
        self._follow_state(place, event, standing.seen)

    def _follow_state(self, place: str, event: Applied, seen: _Seen | None) -> None:
        """The state digest that a certificate leads to, from its items."""
        if self._state is None or seen is None or seen.recorded is None:
            self._state = None
            return
        self._leaves.update(seen.recorded)
        gone = [(fact, self._leaves.pop(fact, b"")) for fact in seen.superseded]
        if any(not leaf for _, leaf in gone):
            self._found.add(place, "supersedes a fact that is not believed")
            self._state = None
            return
        self._state = self._state.add_many(seen.recorded).remove_many(gone)
        if self._state.hexdigest() != event.state:
            self._found.add(place, "from here on the state digest is not that of the plans that were applied")
            self._state = None

    def _look_at_record(self, place: str, digest: str, standing: _Standing, kind: type) -> None:
        if standing.seen is not None and not isinstance(standing.seen.records.get(digest), kind):
            self._found.add(place, f"names a record of SHA-256 {digest}, which is not there")

    # --- certificates -------------------------------------------------------------------------------------------------

    def _look_at_certificate(self, place: str, position: int, event: Issued) -> _Seen | None:
        key = self._keys.at(position)
        limits = {"items-limit": str(MOST_ITEMS), "findings-limit": str(MOST_ITEMS)}
        data = self._fetch(f"/certificates/{event.certificate}", limits)
        if data is None:
            self._unseen += 1
            self._state = None
            return None
        told = json.loads(data)
        certificate, signed = as_signed(canonical_json(told["credential"]), key)
        self._found.counts.certificates += 1
        self._found.counts.signatures += 1
        self._found.differ(place, "SHA-256", digest_hex(signed), event.digest)
        self._found.differ(place, "id", certificate.id, event.certificate)
        self._found.differ(place, "base", certificate.base, self._base)
        self._found.differ(place, "verdict", certificate.verdict, event.verdict)
        self._found.differ(place, "base head", certificate.base_head, self._head)
        seen = _Seen({}, [])
        for name, tree in (("plan", certificate.plan), ("findingItems", certificate.findings)):
            self._look_at_items(place, name, told, tree, certificate, seen)
        for number, each in enumerate(told["decisions"]):
            with self._found.reading(f"{place} decision {number}"):
                document = canonical_json(each["record"])
                seen.records[digest_hex(document)] = verify_record(document, self._keys_of(each["record"]))
                self._found.counts.signatures += 1
        return seen

    def _keys_of(self, record: dict[str, dict[str, str]]) -> VerifyingKey:
        held = self._keys.named_by(record["proof"]["verificationMethod"])
        if held is None:
            raise WrongKey("it is by a key that the base never had", remedy="do not believe it", where="proof")
        return held.key

    def _look_at_items(
        self,
        place: str,
        name: str,
        told: dict[str, dict[str, object]],
        tree: ItemTree,
        certificate: Certificate,
        seen: _Seen,
    ) -> None:
        leaves: list[bytes] = []
        for item in self._items(name, told, certificate):
            ordinal, leaf = int(str(item["ordinal"])), bytes.fromhex(str(item["leaf"]))
            leaves.append(leaf)
            if "body" not in item:
                self._found.counts.by_commitment += 1
                seen.recorded = None if name == "plan" else seen.recorded
                continue
            body = item["body"]
            if leaf_hash(bytes.fromhex(str(item["salt"])) + canonical_json(body)) != leaf:
                self._found.add(f"{place} {name} {ordinal}", "salt and body have not the leaf hash beside them")
            self._found.counts.items += 1
            if name == "plan" and isinstance(body, dict):
                _note(body, leaf, seen)
        if (len(leaves), ItemTree.of(leaves).root) != (tree.count, tree.root):
            self._found.add(place, f"the leaf hashes of its {name} have not the root that was signed")

    def _items(
        self, name: str, told: dict[str, dict[str, object]], certificate: Certificate
    ) -> Iterator[dict[str, object]]:
        page = told[name]
        first = "items-from" if name == "plan" else "findings-from"
        limit = first.replace("from", "limit")
        while True:
            items = page["items"]
            if not isinstance(items, list):
                raise TypeError(f"{name} has no list of items")
            yield from items
            if page["next"] is None:
                return
            asked = {first: str(page["next"]), limit: str(MOST_ITEMS)}
            more = _needed(self._fetch(f"/certificates/{certificate.id}", asked), name)
            page = json.loads(more)[name]


def _note(body: dict[str, object], leaf: bytes, seen: _Seen) -> None:
    """What a plan item does to the facts believed."""
    if body["op"] == "record" and seen.recorded is not None:
        seen.recorded.append((parse_urn(str(body["fact"])).bytes, leaf))
    elif body["op"] == "supersede":
        seen.superseded.append(parse_urn(str(body["fact"])).bytes)


def _needed(data: bytes | None, path: str) -> bytes:
    if data is None:
        raise WrongKey(f"{path} is not for this token, or not there", remedy="send another token", where=path)
    return data
