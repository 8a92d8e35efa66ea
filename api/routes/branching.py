"""What the routes and the pages of branches have in common: looking at one, and submitting it.

Rules (NothingLeaks)
-----
* A branch is judged in the name of whoever looks; where the base has not moved since, what was told then is told again.
* One that cannot be planned any more is told as that, with the place in its plans, the same by every route; it is held
  all the same.
* To submit twice is to submit once: what was asked for has a key of the branch's own.

Example
-------
::

    branch, foretold, problem = await looked_at(service, caller, branch_named(text))
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import UUID

from api.http.waiting import answer_of
from kernel.errors import CallerError, MunimentError, NotFound, PlanError
from kernel.ports.records import CertificateState
from kernel.writing.submitting import Submission, outcome_of

if TYPE_CHECKING:
    from api.service import Service
    from kernel.access import Principal
    from kernel.writing.branches import Branch, Foretold
    from kernel.writing.submitting import Outcome


def branch_named(text: str) -> UUID:
    """The id of a branch; what is none stands for one that is not there, so that it is told as that."""
    try:
        return UUID(text)
    except ValueError:
        return UUID(int=0)


async def looked_at(
    service: Service, caller: Principal, identifier: UUID
) -> tuple[Branch, Foretold | None, CallerError | None]:
    """A branch, and what it would come to at the head of now; or why it cannot be planned there. Raises `NotFound`."""
    branch, foretold = service.branches.one(caller, identifier)
    if branch.certificate is not None:
        return branch, None, None
    head = await service.read(service.base.reader.head)
    if foretold is not None and (foretold.head.position, foretold.head.clock) == (head.position, head.clock):
        return branch, foretold, None
    try:
        return branch, await foretold_of(service, caller, branch), None
    except (PlanError, NotFound) as error:
        error.where = branch.place(error.where)
        return branch, None, error


async def submitted(service: Service, caller: Principal, identifier: UUID, reason: str | None = None) -> Outcome:
    """What became of submitting a branch, now or before.

    Raises:
        NotFound: there is no such branch for the caller.
        CallerError: it cannot be planned any more, or is not theirs to ask.
    """
    branch = service.branches.claim(caller, identifier)
    certificate = branch.certificate
    if certificate is not None:
        return await service.read(lambda: _before(service, certificate))
    request = replace(branch.request, principal=caller.id)
    wanted = request if reason is None else replace(request, reason=reason)
    digest = sha256(branch.key.encode()).digest()
    made, refused = None, False
    try:
        outcome = await answer_of(service.base.submit(Submission(wanted, caller, branch.key, digest, False)))
        made, refused = outcome.certificate, outcome.state is CertificateState.REFUSED
    except MunimentError as error:
        error.where = branch.place(error.where)
        raise
    finally:
        service.branches.settle(branch, made, refused=refused)
    return outcome


async def foretold_of(service: Service, caller: Principal, branch: Branch) -> Foretold:
    """What a branch would come to now; that is kept with it. Raises as a dry run does, and `StateMoved`."""
    judged = Submission(branch.request, caller, None, b"", dry_run=True)
    foretold = await answer_of(service.base.foretell(judged))
    service.branches.foretell(branch, foretold)
    return foretold


def _before(service: Service, certificate: UUID) -> Outcome:
    with service.base.ledger.reading() as view:
        record = view.certificate(certificate)
        if record is None:
            raise NotFound("the certificate is not kept any more", remedy="look at the base")
        return outcome_of(view, record)
