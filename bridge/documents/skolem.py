"""Blank nodes get names of their own on entry.

Rules
-----
* A blank node becomes an IRI under `…/.well-known/genid/` (RDF 1.1 Concepts, section 3.5), its id 128 bits that nobody
  can guess: a hash of a random seed and of how many nodes came before it.
* One `Skolem` serves one document: a label means the same node throughout it, and another one in every other document,
  also when the same document comes twice.
* The same seed and the same document give the same names.

Example
-------
>>> skolem = Skolem(seed=bytes(16))
>>> skolem("b0") == skolem("b0"), skolem("b0") == skolem("b1")
(True, False)
>>> Skolem()("b0") == Skolem()("b0")
False
"""

from __future__ import annotations

from hashlib import blake2b
from secrets import token_bytes
from typing import Final

from kernel.terms import Iri
from kernel.vocabulary import GENID

_SEED_BYTES: Final = 16
_ID_BYTES: Final = 16


class Skolem:
    """The names of the blank nodes of one document, by label.

    Args:
        seed: 16 bytes or more that are to be kept secret; random if left out.
    """

    def __init__(self, seed: bytes | None = None) -> None:
        self._seed = token_bytes(_SEED_BYTES) if seed is None else seed
        self._nodes: dict[str, Iri] = {}

    def __call__(self, label: str) -> Iri:
        """The IRI of the node with the label."""
        node = self._nodes.get(label)
        if node is None:
            number = len(self._nodes).to_bytes(8)
            node = Iri(GENID + blake2b(number, digest_size=_ID_BYTES, key=self._seed).hexdigest())
            self._nodes[label] = node
        return node
