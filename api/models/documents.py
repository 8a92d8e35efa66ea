"""Which of the types are whole requests and answers.

Example
-------
>>> Outcome in DOCUMENTS
True
"""

from __future__ import annotations

from typing import Final

from api.models.arguments import Arguments
from api.models.branches import SubmittedWhatIf, WhatIf, WhatIfList, WhatIfSummary
from api.models.certificates import Certificate, CertificatePage, Decision
from api.models.changes import ChangeRequest
from api.models.contradictions import ContradictionOwner, ContradictionPage, StandingContradiction
from api.models.diffs import DiffPage
from api.models.explanations import Explanation
from api.models.facts import FactPage
from api.models.keys import KeyRevocation, KeyRotation, Revocation
from api.models.outcomes import Outcome
from api.models.purges import Holdings, Purge, PurgePage, PurgePreview, PurgeRequest, RestoreRequest
from api.models.queries import FoundQuery, QueryDefinition, QueryDefinitions, QueryList
from api.models.service import Health, Problem
from api.models.timemaps import TimeMap

DOCUMENTS: Final = (
    *(QueryDefinition, QueryDefinitions, QueryList, FoundQuery),
    *(ChangeRequest, Decision, Outcome, CertificatePage, Certificate),
    *(WhatIf, WhatIfSummary, WhatIfList, SubmittedWhatIf),
    *(FactPage, Arguments, DiffPage, TimeMap, Health, Problem),
    *(Explanation, ContradictionPage, StandingContradiction, ContradictionOwner),
    *(KeyRotation, KeyRevocation, Revocation),
    *(PurgeRequest, RestoreRequest, PurgePreview, Purge, PurgePage, Holdings),
)
"""The types of whole requests and answers; the others are parts of them."""
