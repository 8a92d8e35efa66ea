"""The validation report of a certificate, in pieces: what its checks found, as one caller may see it.

Rules (NothingLeaks)
-----
* Told are the findings that the caller may see. Where there are others `sh:conforms` is false all the same: how many
  findings there are stands in the signed credential, which whoever sees the certificate may read.
* The report says which certificate it is of, with prov:wasDerivedFrom.
* Findings are read as the report is written: memory holds some thousands of them.

Example
-------
::

    report = CertificateReport.of(base.ledger, principal, certificate, ReportFormat.TURTLE)
    while chunk := report.take():
        ...
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Self

from bridge.exporting.chunks import chunks
from bridge.review.certificates import visible
from bridge.review.findings import findings_in_turn
from bridge.shapes.reports import rdf
from bridge.shapes.reports.of_findings import alerts_of_findings, finding_nodes
from bridge.shapes.reports.sarif import sarif
from certificates.ids import urn
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from uuid import UUID

    from certificates.findings import Finding
    from kernel.access import Principal
    from kernel.ports.ledger import Ledger

_DERIVED: Final = Iri("http://www.w3.org/ns/prov#wasDerivedFrom")


class ReportFormat(StrEnum):
    """The formats of a report, by media type."""

    JSON_LD = "application/ld+json"
    TURTLE = "text/turtle"
    N_TRIPLES = "application/n-triples"
    SARIF = "application/sarif+json"


class CertificateReport:
    """A report as it is read; made by `of`."""

    def __init__(self, body: Generator[bytes, None, None]) -> None:
        self._body = body

    @classmethod
    def of(cls, ledger: Ledger, principal: Principal, certificate: UUID, wanted: ReportFormat) -> Self:
        """The report of a certificate.

        Raises:
            NotFound: there is none, or the caller may not see it.
        """
        with ledger.reading() as view:
            record = visible(view, principal, certificate)
        whole = json.loads(record.document)["credentialSubject"]["findingItems"] == 0
        findings = findings_in_turn(ledger, principal, certificate)
        return cls(chunks(_pieces(findings, Iri(urn(certificate)), wanted, whole=whole)))

    def take(self) -> bytes:
        """The next chunk; empty at the end."""
        return next(self._body, b"")

    def close(self) -> None:
        """Nothing is held between chunks."""


def _pieces(findings: Iterable[Finding], certificate: Iri, wanted: ReportFormat, *, whole: bool) -> Iterator[str]:
    said = ((_DERIVED, certificate),)
    match wanted:
        case ReportFormat.JSON_LD:
            return rdf.jsonld(finding_nodes(findings, certificate), said=said, whole=whole)
        case ReportFormat.TURTLE:
            return rdf.turtle(finding_nodes(findings, certificate), said=said, whole=whole)
        case ReportFormat.N_TRIPLES:
            return rdf.ntriples(finding_nodes(findings, certificate), said=said, whole=whole)
        case ReportFormat.SARIF:
            return sarif(alerts_of_findings(findings))
