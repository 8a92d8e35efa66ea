"""The findings of certificates, read in parts: by cause, a page of one cause, or all of them one after the other.

Rules (NothingLeaks)
-----
* Of one cause are the findings of one code, severity, path, shape and component: what mends one probably mends all.
* A finding is seen by those who may read every graph that it was drawn from, and counted for nobody else.
* There may be a hundred thousand: they are gone through once, some thousands at a time, and what is kept is which of
  them have one cause and the same graphs. Findings do not change once they were signed; the last certificates asked for
  are kept.

Example
-------
::

    causes = reader.causes(view, principal, certificate, samples=5)
    causes.listed[0].total, causes.listed[0].findings
"""

from __future__ import annotations

import json
from array import array
from collections import OrderedDict
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Final

from certificates.findings import Finding, FindingCode, Severity
from certificates.items import ItemKind
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from kernel.access import Principal
    from kernel.ports.ledger import Ledger, LedgerView

_CHUNK: Final = 2_000
_KEPT: Final = 64
GRAVITY: Final = {Severity.VIOLATION: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True)
class Cause:
    """What findings have in common."""

    code: FindingCode
    severity: Severity
    path: str | None
    shape: str | None
    component: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """The findings of one cause that the caller may see.

    Args:
        total: how many there are.
        findings: some of them, in the order of the certificate.
    """

    cause: Cause
    total: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Causes:
    """What the findings of a certificate have for causes, the gravest first, of those the most frequent.

    Args:
        listed: those of findings that the caller may see.
        withheld: whether there are findings that the caller may not see, and that a verdict can rest on.
    """

    listed: tuple[Found, ...]
    withheld: bool

    @property
    def severities(self) -> dict[str, int]:
        """How many findings there are of each severity, the gravest first."""
        counted: dict[str, int] = {}
        for found in self.listed:
            counted[found.cause.severity.value] = counted.get(found.cause.severity.value, 0) + found.total
        return counted


_Groups = dict[tuple[Cause, tuple[str, ...]], "array[int]"]
"""The ordinals of findings, by cause and graphs."""


class FindingReader:
    """Reads findings; safe from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[UUID, _Groups] = OrderedDict()

    def causes(self, view: LedgerView, principal: Principal, certificate: UUID, *, samples: int) -> Causes:
        """The causes, each with its first findings.

        Args:
            view: of the ledger.
            principal: the caller, who may see the certificate.
            certificate: its id.
            samples: how many findings of each cause are read.
        """
        groups = self._groups(view, certificate)
        seen: dict[Cause, list[array[int]]] = {}
        for (cause, graphs), ordinals in groups.items():
            if _may_read(principal, graphs):
                seen.setdefault(cause, []).append(ordinals)
        found = [
            Found(cause, sum(map(len, each)), tuple(_read(view, certificate, islice(merge(*each), samples))))
            for cause, each in sorted(seen.items(), key=_in_order)
        ]
        withheld = any(
            cause.severity is not Severity.INFO and not _may_read(principal, graphs) for cause, graphs in groups
        )
        return Causes(tuple(found), withheld)

    def of_cause(
        self, view: LedgerView, principal: Principal, certificate: UUID, cause: Cause, *, first: int, limit: int
    ) -> list[Finding]:
        """Findings of one cause that the caller may see: up to `limit`, from number `first` on, counted from 0."""
        parts = [
            ordinals
            for (each, graphs), ordinals in self._groups(view, certificate).items()
            if each == cause and _may_read(principal, graphs)
        ]
        return list(_read(view, certificate, islice(merge(*parts), first, first + limit)))

    def _groups(self, view: LedgerView, certificate: UUID) -> _Groups:
        found = self._kept.get(certificate)
        if found is None:
            found = self._kept[certificate] = _grouped(view, certificate)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found


def findings_in_turn(ledger: Ledger, principal: Principal, certificate: UUID) -> Iterator[Finding]:
    """Every finding that the caller, who may see the certificate, may see; no view is held in between."""
    first: int | None = 0
    while first is not None:
        with ledger.reading() as view:
            items = view.items(certificate, ItemKind.FINDING, first=first, limit=_CHUNK)
        for item in items:
            finding = Finding.from_body(json.loads(item.body))
            if _may_read(principal, finding.graphs):
                yield finding
        first = items[-1].ordinal + 1 if items else None


def _grouped(view: LedgerView, certificate: UUID) -> _Groups:
    groups: _Groups = {}
    known: dict[tuple[str | None, ...], Cause] = {}
    first = 0
    while items := view.items(certificate, ItemKind.FINDING, first=first, limit=_CHUNK):
        for item in items:
            body = json.loads(item.body)
            key = (body["code"], body["severity"], body.get("path"), body.get("shape"), body.get("component"))
            cause = known.get(key)
            if cause is None:
                cause = known[key] = Cause(FindingCode(key[0]), Severity(key[1]), *key[2:])
            groups.setdefault((cause, tuple(body["graphs"])), array("L")).append(item.ordinal)
        first = items[-1].ordinal + 1
    return groups


def _read(view: LedgerView, certificate: UUID, ordinals: Iterable[int]) -> Iterator[Finding]:
    """The findings of those ordinals that are left."""
    for ordinal in ordinals:
        for item in view.items(certificate, ItemKind.FINDING, first=ordinal, limit=1):
            if item.ordinal == ordinal:
                yield Finding.from_body(json.loads(item.body))


def _in_order(group: tuple[Cause, Sequence[array[int]]]) -> tuple[int, int, int]:
    cause, parts = group
    return GRAVITY[cause.severity], -sum(map(len, parts)), min(each[0] for each in parts)


def _may_read(principal: Principal, graphs: Iterable[str]) -> bool:
    return all(principal.may_read(Iri(graph)) for graph in graphs)
