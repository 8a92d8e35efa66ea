"""`/branches`: the branches that somebody holds, each with what it would change, what was found, and its impact.

Rules (NothingLeaks)
-----
* A branch is seen by its maker and by administrators of the base, as by `GET /what-if`; for all others there is none.
* It is judged at the head of now, whenever it is looked at. What it would change is what would be planned, with what
  the rules propose, as far as its reader may read.
* Submitting it leads to the certificate that came of it, whatever that says; a form that is sent twice submits once.

Example
-------
::

    POST /branches/0197…/submit → 303 /queue/0198…
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api.pages.certificate import path_of
from api.pages.effects import fact_shown
from api.pages.findings import findings_shown, nodes_in
from api.pages.names import names_for
from api.pages.rendering import page, see_other
from api.pages.times import at
from api.pages.visiting import Visitor, page_parameters, read_form
from api.routes.branching import branch_named, looked_at, submitted
from api.service import Service
from bridge.review.certificates import readable_findings
from certificates.findings import Severity
from kernel.facts import Fact
from kernel.ports.records import CertificateState
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from uuid import UUID

    from api.pages.effects import FactShown
    from api.pages.terms import Names
    from api.pages.times import Words
    from api.pages.visiting import Visit
    from kernel.errors import CallerError
    from kernel.writing.branches import Branch, Foretold
    from kernel.writing.plan import Plan

MOST: Final = 100
"""Facts that are shown of either kind, and findings."""

_SAID: Final = {
    CertificateState.APPLIED: "Submitted, and applied: it can be read at once.",
    CertificateState.PENDING: "Submitted. An editor has to look at what the checks found.",
    CertificateState.REFUSED: "Submitted, and refused, for what the checks found below. The branch is still open.",
}

router = APIRouter(include_in_schema=False)

BranchId = Annotated[str, Path(description="the id of the branch")]


@dataclass(frozen=True, slots=True)
class BranchShown:
    """A branch in the list."""

    id: UUID
    maker: str
    until: Words
    plans: int
    changes: int
    certificate: UUID | None
    reason: str | None


@router.get("/branches", response_class=Response)
async def list_branches(request: Request, visit: Visitor) -> Response:
    """The list."""
    page_parameters(request, ())
    shown = [_shown(each) for each in Service.of(request).branches.of(visit.principal)]
    notice = None if request.method == "HEAD" else visit.session.take_notice("/branches")
    return page(request, "branches.html", visit, {"branches": shown, "notice": notice})


@router.get("/branches/{branch}", response_class=Response)
async def look(request: Request, visit: Visitor, branch: BranchId) -> Response:
    """The page of one branch."""
    page_parameters(request, ())
    service, identifier = Service.of(request), branch_named(branch)
    held, foretold, problem = await looked_at(service, visit.principal, identifier)
    content = await service.read(lambda: _content(service, visit, held, foretold, problem))
    return page(request, "branch.html", visit, content)


@router.post("/branches/{branch}/submit", response_class=Response)
async def submit(request: Request, visit: Visitor, branch: BranchId) -> Response:
    """Submits it whole, and leads to the certificate."""
    page_parameters(request, ())
    await read_form(request, visit.session.forgery_token, ())
    outcome = await submitted(Service.of(request), visit.principal, branch_named(branch))
    if outcome.certificate is None:
        return see_other("/branches")
    made = path_of(outcome.certificate)
    if outcome.state in _SAID:
        visit.session.say(made, _SAID[outcome.state])
    return see_other(made)


@router.post("/branches/{branch}/drop", response_class=Response)
async def drop(request: Request, visit: Visitor, branch: BranchId) -> Response:
    """Drops it, and leads to the others."""
    page_parameters(request, ())
    await read_form(request, visit.session.forgery_token, ())
    Service.of(request).branches.drop(visit.principal, branch_named(branch))
    visit.session.say("/branches", "The branch was dropped. Nothing of it was written.")
    return see_other("/branches")


def _shown(branch: Branch) -> BranchShown:
    return BranchShown(
        branch.id,
        branch.maker,
        at(branch.until),
        len(branch.plans),
        sum(len(each.changes) for each in branch.plans),
        branch.certificate,
        None if branch.certificate is not None else branch.request.reason,
    )


def _content(
    service: Service, visit: Visit, branch: Branch, foretold: Foretold | None, problem: CallerError | None
) -> Mapping[str, object]:
    principal = visit.principal
    found = () if foretold is None else foretold.outcome.findings
    findings = readable_findings(principal, found)
    plan = None if foretold is None else service.branch_reader.plan(branch, principal)
    comes, goes = ([], []) if plan is None else ([*_recorded(plan)], [*plan.supersede])
    comes, goes = ([fact for fact in each if principal.may_read(fact.statement.graph)] for each in (comes, goes))
    nodes = {
        term
        for fact in (*comes[:MOST], *goes[:MOST])
        for term in (fact.statement.subject, fact.statement.predicate, fact.statement.object, fact.statement.graph)
        if isinstance(term, Iri)
    }
    planned = (fact.statement for fact in comes)
    names = names_for(service.base.reader, principal, nodes | nodes_in(findings[:MOST]), planned)
    return {
        "branch": _shown(branch),
        "head": None if foretold is None else foretold.head.position,
        "verdict": None if foretold is None else foretold.verdict.value,
        "problem": problem,
        "comes": _facts(comes, names),
        "more_come": max(0, len(comes) - MOST),
        "goes": _facts(goes, names),
        "more_go": max(0, len(goes) - MOST),
        "causes": findings_shown(findings[:MOST], names),
        "more_findings": max(0, len(findings) - MOST),
        "withheld": sum(each.severity is not Severity.INFO for each in found)
        > sum(each.severity is not Severity.INFO for each in findings),
    }


def _recorded(plan: Plan) -> Iterator[Fact]:
    return (Fact(content, plan.certificate, plan.issued_at, None, b"") for content in plan.record)


def _facts(facts: list[Fact], names: Names) -> list[FactShown]:
    return [fact_shown(fact, (), names) for fact in islice(facts, MOST)]
