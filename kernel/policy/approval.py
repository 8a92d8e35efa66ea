"""Who may approve what waits, and how many it takes: the part of a policy that is about people.

Rules
-----
* An approval is refused, or it counts; what waits is applied once enough count. Rejecting takes one editor, whoever it
  is: nothing is changed by it.
* Rules are small and compose: `NoSelfApproval`, `Approvals`, `SignedByEditor`, `Every`. Each describes itself
  canonically, and the digest of a policy has that in it. `AnyEditor`, the default, refuses nobody.
* Whoever asked for a change and whoever approves it are told apart by their ids: somebody who has two tokens is two.

Example
-------
>>> rule = Every((NoSelfApproval(), Approvals(2)))
>>> case = Case(asked_by="ada", editor="bob", approved_by=(), signed=False)
>>> rule.refuses(case), rule.missing(case), rule.refuses(Case("ada", "ada", (), signed=False))
(None, 1, 'whoever asked for a change does not approve it')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Case:
    """An approval that somebody would give.

    Args:
        asked_by: who asked for the change.
        editor: who approves it.
        approved_by: who did before.
        signed: whether the editor has signed it with a key of their own.
    """

    asked_by: str
    editor: str
    approved_by: tuple[str, ...]
    signed: bool


class ApprovalRule(Protocol):
    """What approvals are held to."""

    def refuses(self, case: Case) -> str | None:
        """Why the approval is not taken; None: it is."""
        ...

    def missing(self, case: Case) -> int:
        """How many more it takes, with this one."""
        ...

    def describe(self) -> dict[str, object]:
        """The rule as canonical JSON members."""
        ...


@dataclass(frozen=True, slots=True)
class AnyEditor:
    """One editor of every graph concerned, whoever it is."""

    def refuses(self, case: Case) -> str | None:  # noqa: ARG002 - nobody is
        """None."""
        return None

    def missing(self, case: Case) -> int:  # noqa: ARG002 - one is enough
        """None."""
        return 0

    def describe(self) -> dict[str, object]:
        """The rule as canonical JSON members."""
        return {"anyEditor": True}


@dataclass(frozen=True, slots=True)
class NoSelfApproval:
    """Somebody else than who asked for the change."""

    def refuses(self, case: Case) -> str | None:
        """Where it is the same."""
        return "whoever asked for a change does not approve it" if case.editor == case.asked_by else None

    def missing(self, case: Case) -> int:  # noqa: ARG002 - one is enough
        """None."""
        return 0

    def describe(self) -> dict[str, object]:
        """The rule as canonical JSON members."""
        return {"noSelfApproval": True}


@dataclass(frozen=True, slots=True)
class Approvals:
    """So many different editors. Raises `ValueError` for less than one."""

    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"{self.count} approvals")

    def refuses(self, case: Case) -> str | None:
        """Where the editor approved it before."""
        return "you have approved it already; another editor is needed" if case.editor in case.approved_by else None

    def missing(self, case: Case) -> int:
        """How many others it takes."""
        return max(0, self.count - len({*case.approved_by, case.editor}))

    def describe(self) -> dict[str, object]:
        """The rule as canonical JSON members."""
        return {"approvals": self.count}


@dataclass(frozen=True, slots=True)
class SignedByEditor:
    """Editors who sign with a key of their own, which is registered for them."""

    def refuses(self, case: Case) -> str | None:
        """Where there is no such signature."""
        return None if case.signed else "approvals are signed with the editor's own key here"

    def missing(self, case: Case) -> int:  # noqa: ARG002 - one is enough
        """None."""
        return 0

    def describe(self) -> dict[str, object]:
        """The rule as canonical JSON members."""
        return {"signedByEditor": True}


@dataclass(frozen=True, slots=True)
class Every:
    """All of the rules."""

    rules: tuple[ApprovalRule, ...]

    def refuses(self, case: Case) -> str | None:
        """The first reason."""
        return next((reason for rule in self.rules if (reason := rule.refuses(case)) is not None), None)

    def missing(self, case: Case) -> int:
        """The most."""
        return max((rule.missing(case) for rule in self.rules), default=0)

    def describe(self) -> dict[str, object]:
        """The rule as canonical JSON members."""
        return {"every": [rule.describe() for rule in self.rules]}


ANY_EDITOR = AnyEditor()


def both(one: ApprovalRule, other: ApprovalRule) -> ApprovalRule:
    """What is held to two rules, in as few words as it takes."""
    parts = dict.fromkeys(part for rule in (one, other) for part in _parts(rule))
    if len(parts) < 2:
        return next(iter(parts), ANY_EDITOR)
    return Every(tuple(parts))


def _parts(rule: ApprovalRule) -> tuple[ApprovalRule, ...]:
    """The rules that it is made of, without those that refuse nobody."""
    if isinstance(rule, Every):
        return tuple(part for each in rule.rules for part in _parts(each))
    return () if rule == ANY_EDITOR else (rule,)
