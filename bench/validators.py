"""Who takes part in validation by shapes: ours and other validators; in what, and how much is done at which size.

Rules
-----
* All sizes are measured with everyone up, one size after the other: a million triples in four processes is enough.
* pySHACL takes minutes for a million and holds a hundred thousand instead, unless all is asked for (`--in-full`). Its
  time goes by the size, so ratios of rates come out alike; the report marks them.

Example
-------
>>> [entry.name for entry in VALIDATORS]
['ours', 'pyshacl', 'shacl', 'pyshacl-turbo']
"""

from __future__ import annotations

from typing import Final

from bench.aims import LARGE, MILLION
from bench.contestants import OURS, Effort, Entry, Measure
from bench.environments import same_as_ours

PYSHACL: Final = "pyshacl"
SHACL: Final = "shacl"
TURBO: Final = "pyshacl-turbo"

_ALL: Final = frozenset(measure for measure in Measure if measure.validates)
_PEERS: Final = "bench.validation.peers"

VALIDATORS: Final = (
    Entry(OURS, "ours", "bench.validation.ours", _ALL),
    Entry(PYSHACL, "pySHACL, a change with what is around it", f"{_PEERS}.pyshacl_itself", _ALL,
          tuple(same_as_ours("rdflib", "pyshacl")), most=LARGE),
    Entry(SHACL, "shacl, reading included", f"{_PEERS}.shacl_itself", _ALL, ("shacl==0.3.4",)),
    Entry(TURBO, "pyshacl-turbo, a change with what is around it", f"{_PEERS}.turbo", _ALL,
          ("pyshacl-turbo==0.6.5", *same_as_ours("rdflib"))),
)  # fmt: skip


def effort_at(size: int, effort: Effort) -> Effort:
    """How much is done at a size: of a million one round."""
    if size < MILLION:
        return effort
    return Effort(rounds=1, loads=1, single=effort.single, many=0, look_ups=0, limit=effort.limit)
