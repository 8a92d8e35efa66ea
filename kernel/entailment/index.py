"""Triples in memory, found by predicate and either end.

Rules
-----
* Terms are text in N-Triples form. A triple is there once.
* A predicate leads to the objects of a subject, and to the subjects of an object. One alone is kept as it is, several
  as a set: most are alone, and a set takes four times the memory of the rest of it.

Example
-------
>>> index = Index()
>>> index.add(("<urn:a>", "<urn:p>", "<urn:b>")), index.add(("<urn:a>", "<urn:p>", "<urn:b>"))
(True, False)
>>> index.objects("<urn:p>", "<urn:a>"), index.subjects("<urn:p>", "<urn:c>"), len(index)
(('<urn:b>',), (), 1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Triple: TypeAlias = "tuple[str, str, str]"
_Ends: TypeAlias = "dict[str, dict[str, str | set[str]]]"


class Index:
    """A set of triples."""

    def __init__(self) -> None:
        self._objects: _Ends = {}
        self._subjects: _Ends = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __contains__(self, triple: Triple) -> bool:
        subject, predicate, value = triple
        found = self._objects.get(predicate, {}).get(subject)
        return found is not None and (found == value if isinstance(found, str) else value in found)

    def add(self, triple: Triple) -> bool:
        """Whether it was not there before."""
        if triple in self:
            return False
        subject, predicate, value = triple
        _put(self._objects, predicate, subject, value)
        _put(self._subjects, predicate, value, subject)
        self._size += 1
        return True

    def remove(self, triple: Triple) -> bool:
        """Whether it was there."""
        if triple not in self:
            return False
        subject, predicate, value = triple
        _take(self._objects, predicate, subject, value)
        _take(self._subjects, predicate, value, subject)
        self._size -= 1
        return True

    def objects(self, predicate: str, subject: str) -> Collection[str]:
        """The objects of a subject and predicate."""
        return _all(self._objects.get(predicate, {}).get(subject))

    def subjects(self, predicate: str, value: str) -> Collection[str]:
        """The subjects of a predicate and object."""
        return _all(self._subjects.get(predicate, {}).get(value))

    def pairs(self, predicate: str) -> Iterator[tuple[str, str]]:
        """Subject and object of each triple of a predicate."""
        for subject, values in self._objects.get(predicate, {}).items():
            for value in _all(values):
                yield subject, value

    def predicates(self) -> Collection[str]:
        """Which there are."""
        return self._objects.keys()


class Strides:
    """What an index has beside its leaps, which is what a transitive rule gave.

    Args:
        index: has it all.
        leaps: a part of it.
    """

    def __init__(self, index: Index, leaps: Index) -> None:
        self._index, self._leaps = index, leaps

    def __contains__(self, triple: Triple) -> bool:
        return triple in self._index and triple not in self._leaps

    def objects(self, predicate: str, subject: str) -> Collection[str]:
        """The objects of a subject and predicate."""
        return {*self._index.objects(predicate, subject)}.difference(self._leaps.objects(predicate, subject))

    def subjects(self, predicate: str, value: str) -> Collection[str]:
        """The subjects of a predicate and object."""
        return {*self._index.subjects(predicate, value)}.difference(self._leaps.subjects(predicate, value))

    def pairs(self, predicate: str) -> Iterator[tuple[str, str]]:
        """Subject and object of each triple of a predicate."""
        return (each for each in self._index.pairs(predicate) if (each[0], predicate, each[1]) not in self._leaps)

    def predicates(self) -> Collection[str]:
        """Which there are, at most."""
        return self._index.predicates()


def _all(found: str | set[str] | None) -> Collection[str]:
    if found is None:
        return ()
    return (found,) if isinstance(found, str) else found


def _put(ends: _Ends, predicate: str, key: str, value: str) -> None:
    by_key = ends.setdefault(predicate, {})
    there = by_key.get(key)
    if there is None:
        by_key[key] = value
    elif isinstance(there, str):
        by_key[key] = {there, value}
    else:
        there.add(value)


def _take(ends: _Ends, predicate: str, key: str, value: str) -> None:
    by_key = ends[predicate]
    there = by_key[key]
    if not isinstance(there, str):
        there.discard(value)
        if len(there) == 1:
            by_key[key] = there.pop()
        return
    del by_key[key]
    if not by_key:
        del ends[predicate]
