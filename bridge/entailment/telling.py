"""What follows from a plan, and what cannot be with it, in words.

Rules (NothingLeaks)
-----
* A finding says of which graphs it is, and is drawn from these: of one, of all of data, or of several together, which
  is what follows from none of them alone. It is seen by those who may read all of them.
* An inconsistency is a contradiction of the kind *logical*. It names the statements of the plan that it is owed to:
  what there is to say otherwise.
* Where whoever asks may not read everything, what takes several graphs together is one piece of information, whatever
  was found: neither the verdict nor the number of findings tells of graphs that they may not read.
* Nothing here is of an instant: the same plan on the same state is told the same.

Example
-------
>>> about = About(("urn:g",), "in <urn:g>")
>>> found = Foreseen(follows=1, ceases=0, gained=[("<urn:a>", "<urn:p>", "<urn:b>")], lost=[], inconsistencies=0,
...                  arisen=[], schema=False)
>>> told(Regime.RDFS, found, about)[0].message
'by rdfs, 1 statement follows since in <urn:g>: <urn:a> <urn:p> <urn:b>'
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from bridge.entailment.asking import Foreseen
from bridge.entailment.regimes import INFERRED
from certificates.contradictions import Contradiction, ContradictionKind
from certificates.findings import Finding, FindingCode, Severity
from kernel.counting import counted
from kernel.entailment.table import Regime
from kernel.vocabulary import ONTOLOGY_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bridge.entailment.asking import Arisen, Placed
    from kernel.entailment.index import Triple
    from kernel.terms import Iri

NOTHING: Final = Foreseen(follows=0, ceases=0, gained=[], lost=[], inconsistencies=0, arisen=[], schema=False)

SAMPLE: Final = 5
"""Statements, and inconsistencies, that are told of each kind."""

_SHOWN: Final = 300
_ASK: Final = "ask a query with entailment"
_UNKNOWN: Final = "what follows from this is not known: it takes longer, or more memory, than it may"
_NOT_TOGETHER: Final = (
    "what follows from several graphs together was not looked for: what follows before the change is not worked out"
    " yet, or more follows than is held against what each graph comes to alone"
)
_NOTHING_TOGETHER: Final = "nothing more follows from several graphs together"
_ELSEWHEN: Final = (
    "what follows at other times than now was not looked for, and this changes what holds then: it would take what held"
    f" at each of them; {_ASK} and valid-at"
)


@dataclass(frozen=True, slots=True)
class About:
    """What is told of together: the graphs that it is drawn from, and how they are named."""

    graphs: tuple[str, ...]
    named: str

    @classmethod
    def one(cls, graph: Iri) -> About:
        """A graph, with what the ontology says."""
        return cls((graph.value, ONTOLOGY_GRAPH.value), f"in {_show(graph.n3)}")

    @classmethod
    def every(cls, graphs: Iterable[Iri], *, beyond: bool) -> About:
        """All graphs of data; or what takes several of them together."""
        named = "from several graphs together" if beyond else "in all graphs of data"
        return cls((*(graph.value for graph in graphs), ONTOLOGY_GRAPH.value), named)


def told(regime: Regime, found: Foreseen, about: About) -> list[Finding]:
    """What was found of some graphs."""
    findings = [*_contradictions(found, about)]
    if found["follows"] or found["ceases"]:
        findings.insert(0, Finding(FindingCode.FOLLOWS, Severity.INFO, _words(regime, found, about), about.graphs))
    return findings


def unknown(about: About, severity: Severity) -> Finding:
    """That it could not be found."""
    return Finding(FindingCode.FOLLOWS_UNKNOWN, severity, _UNKNOWN, about.graphs)


def together(regime: Regime, found: Foreseen | None, about: About, *, partial: bool) -> list[Finding]:
    """What takes several graphs together; None: it was not looked for.

    Args:
        regime: by which rules.
        found: it.
        about: the graphs.
        partial: whether whoever asks may not read all of them.
    """
    findings = [_not_together(about)] if found is None else told(regime, found, about)
    if not partial:
        return findings
    words = "; ".join(each.message for each in findings) or _NOTHING_TOGETHER
    return [Finding(FindingCode.FOLLOWS, Severity.INFO, words, about.graphs)]


def elsewhen(graphs: Iterable[Iri]) -> Iterator[Finding]:
    """That it was not looked for at other times, of each of some graphs."""
    for graph in sorted(graphs, key=lambda each: each.value):
        yield Finding(FindingCode.FOLLOWS_UNKNOWN, Severity.INFO, _ELSEWHEN, About.one(graph).graphs)


def of_large_load(most: int) -> Finding:
    """That it was not looked for of a load."""
    why = f"it brings more than {counted(most, 'statement')}; {_ASK} once it is there"
    message = f"what follows from this load was not looked for: {why}"
    return Finding(FindingCode.FOLLOWS_UNKNOWN, Severity.INFO, message, (ONTOLOGY_GRAPH.value,))


def beyond(found: Foreseen | None, alone: Sequence[Foreseen | None]) -> Foreseen | None:
    """What follows from several graphs together and from none of them alone; None: one of them is not all there."""
    whole = [each for each in (found, *alone) if each is not None and _is_whole(each)]
    if found is None or len(whole) < 1 + len(alone):
        return None
    gained = _without(found["gained"], (each["gained"] for each in whole[1:]))
    lost = _without(found["lost"], (each["lost"] for each in whole[1:]))
    known = {_key(step) for each in whole[1:] for step in each["arisen"]}
    arisen = [step for step in found["arisen"] if _key(step) not in known]
    return Foreseen(
        follows=len(gained),
        ceases=len(lost),
        gained=gained,
        lost=lost,
        inconsistencies=len(arisen),
        arisen=arisen,
        schema=found["schema"],
    )


def _is_whole(found: Foreseen) -> bool:
    return (found["follows"], found["ceases"], found["inconsistencies"]) == (
        len(found["gained"]),
        len(found["lost"]),
        len(found["arisen"]),
    )


def _without(found: list[Triple], others: Iterable[Iterable[Triple]]) -> list[Triple]:
    known = {tuple(each) for other in others for each in other}
    return [each for each in found if tuple(each) not in known]


def _key(step: Arisen) -> tuple[str, tuple[tuple[str, ...], ...]]:
    return step["rule"], tuple(map(tuple, step["premises"]))


def _not_together(about: About) -> Finding:
    return Finding(FindingCode.FOLLOWS_UNKNOWN, Severity.INFO, _NOT_TOGETHER, about.graphs)


# --- words ------------------------------------------------------------------------------------------------------------


def _words(regime: Regime, found: Foreseen, about: About) -> str:
    whose = "by what the plan says of the vocabulary" if found["schema"] else f"by {regime}"
    parts = [
        f"{counted(number, 'statement')} {what[number == 1]} {about.named}: {_sample(sample, number)}"
        for number, sample, what in (
            (found["follows"], found["gained"], ("follow since", "follows since")),
            (found["ceases"], found["lost"], ("follow no more", "follows no more")),
        )
        if number
    ]
    return f"{whose}, " + "; ".join(parts)


def _sample(sample: Iterable[Sequence[str]], number: int) -> str:
    shown = [_show(" ".join(each)) for each in islice(sample, SAMPLE)]
    return ", ".join(shown) + (f", and {number - len(shown):,} more" if number > len(shown) else "")


def _contradictions(found: Foreseen, about: About) -> Iterator[Finding]:
    shown = found["arisen"][:SAMPLE]
    more = found["inconsistencies"] - len(shown)
    others = f"; and there {'is' if more == 1 else 'are'} {more:,} more such" if more else ""
    for each in shown:
        subject, predicate, value, _ = each["statement"]
        premises = ", ".join(_show(" ".join(premise)) for premise in each["premises"])
        yield Finding(
            code=FindingCode.INCONSISTENT,
            severity=Severity.VIOLATION,
            message=f"these cannot all hold {about.named}, by {each['rule']}: {premises}; {_owing(each)}{others}",
            graphs=about.graphs,
            focus=subject,
            path=predicate,
            value=value,
            contradiction=Contradiction(ContradictionKind.LOGICAL, _nquad(each["statement"]), _nquad(each["against"])),
        )


def _owing(each: Arisen) -> str:
    """What the plan would have to say otherwise."""
    owing = each["owing"]
    if not owing:
        return "several statements of this change lead to it, none of them alone"
    shown = ", ".join(_show(statement.removesuffix(" .")) for statement in owing[:SAMPLE])
    others = f", or one of {len(owing) - SAMPLE:,} more" if len(owing) > SAMPLE else ""
    return f"of this change, what leads to it is {shown}{others}"


def _nquad(placed: Placed) -> str:
    """A premise; what follows stands in the graph of what is inferred."""
    *triple, graph = placed
    return f"{' '.join(map(str, triple))} {graph or INFERRED.n3} ."


def _show(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
