"""From what a file says to what is asserted.

Rules
-----
* A statement is believed over the valid time of the options, unless it brings its own, and only in graphs that who
  loads may write. What has a record (`bridge.documents.records`), as in an export with annotations, brings its own.
* A blank node becomes an IRI under `…/.well-known/genid/` (RDF 1.1 Concepts, section 3.5), its id 128 bits that nobody
  can guess: a keyed hash of the file's place in the session and the node's label. So no two files share nodes, and
  reading a file again with the same seed gives the same ones.
* Outside the formats of lines a parser makes up labels, at random. So there the nodes are numbered as they appear,
  which takes some 200 bytes of memory for each, and the number is hashed.

Example
-------
>>> [Nodes(bytes(16), file)("b0") == Nodes(bytes(16), 0)("b0") for file in (0, 1)]
[True, False]
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from bridge.documents.changes_json import Setting, read_change
from bridge.documents.json_terms import JsonTerms
from bridge.documents.reader import Conversion
from bridge.documents.records import Item
from bridge.terms import OxigraphCanonicaliser
from kernel.changes import NO_SPELLING, Assert
from kernel.errors import InvalidChange
from kernel.facts import Spelling
from kernel.terms import Iri
from kernel.vocabulary import DEFAULT_GRAPH, GENID

if TYPE_CHECKING:
    import pyoxigraph as ox

    from bridge.documents.json_text import Json
    from bridge.loading.options import LoadOptions
    from kernel.access import Principal

_ID_BYTES: Final = 16
_TIMES: Final = frozenset({"validFrom", "validTo", "validThrough"})


class Nodes:
    """The names of the blank nodes of one file, by label.

    Args:
        seed: of the session, to be kept secret.
        file: its place among the files of the session.
        labelled: whether every node of the format has a label.
    """

    def __init__(self, seed: bytes, file: int, *, labelled: bool = False) -> None:
        self._seed = seed
        self._file = f"{file}/"
        self._labelled = labelled
        self._numbers: dict[str, int] = {}

    def __call__(self, label: str) -> Iri:
        """The IRI of the node with the label."""
        name = label if self._labelled else str(self._numbers.setdefault(label, len(self._numbers)))
        digest = blake2b((self._file + name).encode(), digest_size=_ID_BYTES, key=self._seed)
        return Iri(GENID + digest.hexdigest())


class Assertions:
    """Makes assertions of what one file says.

    Args:
        options: of the session.
        principal: who loads.
        nodes: names the blank nodes of the file.
    """

    def __init__(self, options: LoadOptions, principal: Principal, nodes: Nodes) -> None:
        canonicaliser = OxigraphCanonicaliser()
        self.conversion = Conversion(options.graph, canonicaliser, nodes)
        self._setting = Setting(JsonTerms(canonicaliser, nodes), options.graph or DEFAULT_GRAPH)
        self._validity = options.validity
        self._times = options.spelling
        self._require_write = principal.require_write
        self._writable: set[Iri] = set()

    def of_quad(self, quad: ox.Quad) -> Assert:
        """What a quad asserts. Raises `CallerError`."""
        return self.of_item(Item(*self.conversion.of_quad(quad)))

    def of_item(self, item: Item) -> Assert:
        """What a statement asserts, with its own times if it brings them. Raises `CallerError`."""
        self._require_writable(item.statement.graph)
        if item.validity is None:
            return Assert(item.statement, self._validity, self._spelled(item.spelling), item.confidence)
        return Assert(item.statement, item.validity, item.spelling, item.confidence)

    def of_change(self, value: Json) -> Assert:
        """What a change in JSON asserts. Raises `CallerError`, also for a change that is no assertion."""
        change = read_change(value, self._setting)
        if not isinstance(change, Assert):
            raise InvalidChange(
                "only `assert` can be loaded", remedy="send other changes with POST /changes", where="/op"
            )
        self._require_writable(change.statement.graph)
        if isinstance(value, dict) and _TIMES.isdisjoint(value):
            return Assert(change.statement, self._validity, self._spelled(change.spelling), change.confidence)
        return change

    def _spelled(self, spelling: Spelling) -> Spelling:
        """The spelling of an object, together with that of the times of the options."""
        times = self._times
        if spelling is NO_SPELLING:
            return times
        return Spelling(spelling.object, times.valid_from, times.valid_to)

    def _require_writable(self, graph: Iri) -> None:
        if graph not in self._writable:
            self._require_write(graph)
            self._writable.add(graph)
