"""What it takes to know what follows when one fact comes or goes, beside making whole closures.

Rules
-----
* The facts are of people, works and groups, under a small ontology of OWL 2 RL: domains, ranges, a hierarchy of classes
  and of properties, an inverse, a symmetric, a transitive and a functional property, a chain and an intersection.
* Ours is asked in one process: to make the closure, and then to have single facts come and go, of five kinds in turn.
  All of it is CPU time; what single facts take is a median and the worst.
* The others make whole closures, each in a process of its own: `reasonable` in an environment of
  its own, owlrl up to `MOST_OF_OWLRL` facts, for it takes minutes beyond. Reading is not counted.
* Told is how many statements there are then, without those about the vocabulary, about literals, and about a thing and
  itself, which are a matter of taste.

Example
-------
::

    Console().print(entailment_table(10_000, entailment(Path("scratch"), 10_000)))
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

from rich.table import Table

from bench.environments import Unavailable, environment, home
from kernel.entailment.closure import Closure
from kernel.entailment.table import OWL, RDFS, TYPE, Regime
from kernel.terms import RDF

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kernel.entailment.index import Triple

SINGLE: Final = 250
"""Facts that come and go one by one."""

MOST_OF_OWLRL: Final = 10_000
AIM: Final = 5.0
PATIENCE: Final = 1_800
_EX: Final = "http://example.org/"
_FACTS_A_PERSON: Final = 5

_OWLRL: Final = """
import sys, time, json, owlrl, rdflib
graph = rdflib.Graph().parse(sys.argv[1], format="nt")
began = time.process_time()
owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)
took = time.process_time() - began
told = sum(1 for s, p, o in graph if s != o and str(s).startswith("http://example.org/"))
print(json.dumps([took, told]))
"""
_REASONABLE: Final = """
import sys, time, json, reasonable
reasoner = reasonable.PyReasoner()
reasoner.load_file(sys.argv[1])
began = time.process_time()
found = reasoner.reason()
took = time.process_time() - began
print(json.dumps([took, sum(1 for s, p, o in found if str(s) != str(o) and "http://example.org/" in str(s))]))
"""

_SPARQ: Final = """
import sys, time, json, sparq
graph = sparq.Graph.load(sys.argv[1], "ntriples")
began = time.process_time()
graph.reason("owl")
took = time.process_time() - began
told = graph.query('SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER(STRSTARTS(STR(?s), "http://example.org/") && ?s != ?o) }')
print(json.dumps([took, int(told.rows[0]["n"].value)]))
"""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole closure: seconds of CPU time, and how many statements there are then."""

    seconds: float
    statements: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured.

    Args:
        comes: for each fact that came, in milliseconds of CPU time.
        goes: the same for each that went.
        ours: the whole closure.
        others: those of others, or why there is none.
    """

    comes: list[float]
    goes: list[float]
    ours: Whole
    others: dict[str, Whole | str]


def entailment(directory: Path, size: int) -> Measured:
    """Makes the closure of so many facts, has single ones come and go, and asks the others."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "facts.ttl"
    with path.open("w", encoding="utf-8") as file:
        for each in facts(size):
            file.write(f"{' '.join(each)} .\n")
    closure = Closure(Regime.OWL_RL)
    began = time.process_time()
    closure.change(add=facts(size))
    seconds = time.process_time() - began
    told = sum(1 for one, _, other in chain(facts(size), closure.inferred) if one != other and _EX in one)
    ours = Whole(seconds, told)
    single = [*islice(_people(size), SINGLE)]
    comes = [_took(closure, each, comes=True) for each in single]
    goes = [_took(closure, each, comes=False) for each in single]
    others: dict[str, Whole | str] = {"owlrl": "takes minutes beyond 10,000 facts"}
    if size <= MOST_OF_OWLRL:
        others["owlrl"] = _whole(sys.executable, _OWLRL, path)
    for name, program in (("reasonable", _REASONABLE), ("sparq-rdf", _SPARQ)):
        try:
            others[name] = _whole(str(environment(home(), name, [name])), program, path)
        except Unavailable as error:
            others[name] = str(error)
    return Measured(comes, goes, ours, others)


def entailment_table(size: int, measured: Measured) -> Table:
    """A line for one fact each way, and for each whole closure."""
    table = Table(title=f"What follows under OWL 2 RL, over {size:,} facts")
    for name in ("what", "CPU", "of the closure", "statements"):
        table.add_column(name, justify="right")
    whole = measured.ours.seconds
    for name, took in (("one fact comes", measured.comes), ("one fact goes", measured.goes)):
        told = f"{median(took):.3f} ms, at worst {max(took):.2f}; aim {AIM:g} ms"
        table.add_row(name, told, f"1 / {1e3 * whole / median(took):,.0f}", "")
    table.add_row("the closure", f"{whole:.2f} s", "1", f"{measured.ours.statements:,}")
    for name, other in measured.others.items():
        if isinstance(other, str):
            table.add_row(name, other, "", "")
        else:
            table.add_row(name, f"{other.seconds:.2f} s", f"{other.seconds / whole:.2f}", f"{other.statements:,}")
    return table


def facts(size: int) -> Iterator[Triple]:
    """An ontology, and so many facts with it."""
    axioms = [*_ontology()]
    yield from axioms
    yield from islice(_people(0), size - len(axioms))


def _ontology() -> Iterator[Triple]:
    kinds = ("Poet", "Writer", "Artist", "Person", "Agent")
    for one, other in pairwise(kinds):
        yield _ex(one), f"<{RDFS}subClassOf>", _ex(other)
    yield _ex("wrote"), f"<{RDFS}domain>", _ex("Writer")
    yield _ex("wrote"), f"<{RDFS}range>", _ex("Work")
    yield _ex("wrote"), f"<{RDFS}subPropertyOf>", _ex("made")
    yield _ex("writtenBy"), f"<{OWL}inverseOf>", _ex("wrote")
    yield _ex("knows"), TYPE, f"<{OWL}SymmetricProperty>"
    yield _ex("within"), TYPE, f"<{OWL}TransitiveProperty>"
    yield _ex("bornIn"), TYPE, f"<{OWL}FunctionalProperty>"
    yield _ex("from"), f"<{OWL}propertyChainAxiom>", _ex("chain")
    yield _ex("chain"), f"<{RDF}first>", _ex("bornIn")
    yield _ex("chain"), f"<{RDF}rest>", _ex("chain-2")
    yield _ex("chain-2"), f"<{RDF}first>", _ex("within")
    yield _ex("chain-2"), f"<{RDF}rest>", f"<{RDF}nil>"
    yield _ex("LivingPoet"), f"<{OWL}intersectionOf>", _ex("both")
    yield _ex("both"), f"<{RDF}first>", _ex("Poet")
    yield _ex("both"), f"<{RDF}rest>", _ex("both-2")
    yield _ex("both-2"), f"<{RDF}first>", _ex("Living")
    yield _ex("both-2"), f"<{RDF}rest>", f"<{RDF}nil>"


def _people(first: int) -> Iterator[Triple]:
    """Five facts of each person, without end."""
    number = first
    while True:
        person = _ex(f"person/{number}")
        yield person, TYPE, _ex("Poet" if number % 3 else "Living")
        yield person, _ex("wrote"), _ex(f"work/{number}")
        yield person, _ex("knows"), _ex(f"person/{(number * 7) % (number + 1)}")
        yield person, _ex("bornIn"), _ex(f"place/{number % 1_000}")
        yield person, _ex("name"), f'"Person {number}"'
        if number < 1_000:
            yield _ex(f"place/{number}"), _ex("within"), _ex(f"place/{number // 10}")
        number += 1


def _ex(name: str) -> str:
    return f"<{_EX}{name}>"


def _took(closure: Closure, each: Triple, *, comes: bool) -> float:
    began = time.process_time()
    if comes:
        closure.change(add=[each])
    else:
        closure.change(remove=[each])
    return 1e3 * (time.process_time() - began)


def _whole(python: str, program: str, path: Path) -> Whole | str:
    """What another makes of the facts, or why it does not."""
    try:
        ended = subprocess.run(
            [python, "-W", "ignore", "-c", program, str(path)],
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except subprocess.SubprocessError as error:
        return f"failed: {str(getattr(error, 'stderr', '') or error).strip()[-120:]}"
    seconds, statements = json.loads(ended.stdout)
    return Whole(seconds, statements)
