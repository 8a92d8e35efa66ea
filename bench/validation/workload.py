"""The graph that every contestant validates, and the shapes that it is validated by.

Rules
-----
* Persons work for organisations, some of which are departments, and hold posts. A block is `PERSONS` persons and what
  goes with them; so many blocks are made that there are about as many triples as asked for.
* One block in `BROKEN_EVERY` breaks nine constraints once each: contestants that find another number of results are
  not compared, they are told.
* `SHAPES` has 22 shapes with constraints of twenty components. Standard library only: this is imported in the peers'
  environments too.

Example
-------
>>> sum(1 for _ in triples(10_000)), results(10_000)
(10052, 36)
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

EX: Final = "http://bench.example/"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"

PERSONS: Final = 10
"""In a block, which has one organisation, one department of it, and five posts."""

BROKEN_EVERY: Final = 20
BROKEN: Final = 9
"""Results of a block that is broken."""

A_BLOCK: Final = 10 * 10 + 5 + 4 + 5 * 5
TOP: Final = 2
"""Triples that belong to no block."""

NEW: Final = 1_000
"""Persons who do not work for the hub yet."""

SHAPES: Final = f"""
@prefix : <{EX}> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <{XSD}> .

:PersonShape a sh:NodeShape ; sh:targetClass :Person ; sh:nodeKind sh:IRI ;
    sh:property :name, :label, :born, :email, :worksForShape, :status, :homepage, :knowsShape, :heldPosts .
:name a sh:PropertyShape ; sh:path :fullName ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:string ;
    sh:minLength 3 ; sh:maxLength 80 .
:label a sh:PropertyShape ; sh:path :title ; sh:uniqueLang true ; sh:languageIn ( "en" "de" ) .
:born a sh:PropertyShape ; sh:path :birthDate ; sh:maxCount 1 ; sh:datatype xsd:date ; sh:lessThan :deathDate .
:email a sh:PropertyShape ; sh:path :mail ; sh:maxCount 1 ; sh:pattern "^[a-z0-9.]+@[a-z]+\\\\.example$" .
:worksForShape a sh:PropertyShape ; sh:path :worksFor ; sh:minCount 1 ; sh:nodeKind sh:IRI ; sh:class :Organisation .
:status a sh:PropertyShape ; sh:path :employment ; sh:in ( "active" "retired" ) .
:homepage a sh:PropertyShape ; sh:path :page ; sh:nodeKind sh:IRI .
:knowsShape a sh:PropertyShape ; sh:path :knows ; sh:class :Person ; sh:disjoint :worksFor .
:heldPosts a sh:PropertyShape ; sh:path [ sh:inversePath :holder ] ; sh:maxCount 3 .

:OrganisationShape a sh:NodeShape ; sh:targetClass :Organisation ; sh:property :code, :founded, :parentShape .
:code a sh:PropertyShape ; sh:path :registration ; sh:maxCount 1 ; sh:pattern "^[A-Z]{{2}}[0-9]+$" .
:founded a sh:PropertyShape ; sh:path :foundedIn ; sh:datatype xsd:integer ;
    sh:minInclusive 1000 ; sh:maxExclusive 2100 .
:parentShape a sh:PropertyShape ; sh:path :parent ; sh:class :Organisation ; sh:node :NamedShape .

:NamedShape a sh:NodeShape ; sh:property :orgName .
:orgName a sh:PropertyShape ; sh:path :orgLabel ; sh:minCount 1 ; sh:datatype xsd:string .

:PostShape a sh:NodeShape ; sh:targetSubjectsOf :holder ; sh:closed true ; sh:ignoredProperties ( <{RDF}type> ) ;
    sh:property :holderShape, :from, :until, :of .
:holderShape a sh:PropertyShape ; sh:path :holder ; sh:maxCount 1 ; sh:class :Person .
:from a sh:PropertyShape ; sh:path :start ; sh:minCount 1 ; sh:datatype xsd:date ; sh:lessThanOrEquals :end .
:until a sh:PropertyShape ; sh:path :end ; sh:maxCount 1 ; sh:datatype xsd:date .
:of a sh:PropertyShape ; sh:path :at ; sh:qualifiedValueShape :NamedShape ; sh:qualifiedMinCount 1 .

:EmployerShape a sh:NodeShape ; sh:targetObjectsOf :worksFor ; sh:property :employerName .
:employerName a sh:PropertyShape ; sh:path ( [ sh:zeroOrOnePath :parent ] :orgLabel ) ;
    sh:minCount 1 ; sh:nodeKind sh:Literal .
"""


class Judged(StrEnum):
    """What is judged by itself."""

    FACT = "fact"
    HUB = "hub"
    LEAF = "leaf"
    ENDED = "ended"


_EMPLOYERS: Final = {Judged.HUB: 0, Judged.LEAF: 1}
"""The organisation that is pointed at."""


def blocks(count: int) -> int:
    """How many blocks make up about so many triples."""
    return max(1, round((count - TOP) / A_BLOCK))


def results(count: int) -> int:
    """How many results a validation of about so many triples has."""
    return BROKEN * len(range(0, blocks(count), BROKEN_EVERY))


def require(found: int, count: int) -> None:
    """Raises `ValueError` where a validation of about so many triples found another number of results."""
    if found != results(count):
        raise ValueError(f"{found} results, where there are {results(count)}")


def triples(count: int) -> Iterator[str]:
    """About so many triples, as N-Triples lines."""
    yield from _axioms()
    for number in range(blocks(count)):
        yield from _block(number, broken=number % BROKEN_EVERY == 0)


def changed(kind: Judged, number: int, count: int) -> str:
    """The statement of that number that comes, or ends, in a graph of about so many triples; it breaks nothing."""
    if kind in _EMPLOYERS:
        return _said(f"<{EX}new/{number % NEW}>", "worksFor", f"<{organisation(_EMPLOYERS[kind])}>")
    node, friend = _sound(number, count)
    if kind is Judged.ENDED:
        return _said(f"<{person(node)}>", "knows", f"<{person(friend)}>")
    last = PERSONS * blocks(count) - 1
    value = (f"<{person(last - node)}>", f"<{EX}page/new/{number}>", '"retired"')[number % 3]
    return _said(f"<{person(node)}>", ("knows", "page", "employment")[number % 3], value)


def around(kind: Judged, number: int, count: int) -> Iterator[str]:
    """What judging such a change may look at, and hardly more: so that others need not look at the whole graph."""
    if kind in _EMPLOYERS:
        yield from _new(number % NEW)
        yield from _axioms()
        yield from _employer(_EMPLOYERS[kind])
        return
    node, friend = _sound(number, count)
    last = PERSONS * blocks(count) - 1
    yield from _axioms()
    department = f"<{EX}department/{node // PERSONS}>"
    yield from (
        line for line in _person(node, department, broken=False) if kind is Judged.FACT or "/knows>" not in line
    )
    if node % 2 == 0:
        yield from _post(node, department, broken=False)
    yield _said(department, "type", f"<{EX}Department>", RDF)
    for each in {friend, last - node} - {node}:
        yield _said(f"<{person(each)}>", "type", f"<{EX}Person>", RDF)


def hub(count: int) -> Iterator[str]:
    """An organisation that so many others work for, one that nobody works for, and persons who do not yet."""
    yield from _axioms()
    yield from _employer(0)
    yield from _employer(1)
    for number in range(NEW):
        yield from _new(number)
    for number in range(count):
        yield _said(f"<{person(number)}>", "worksFor", f"<{organisation(0)}>")


def _new(number: int) -> Iterator[str]:
    yield _said(f"<{EX}new/{number}>", "type", f"<{EX}Person>", RDF)
    yield _said(f"<{EX}new/{number}>", "fullName", f'"New person {number}"')


def _employer(number: int) -> Iterator[str]:
    yield _said(f"<{organisation(number)}>", "type", f"<{EX}Company>", RDF)
    yield _said(f"<{organisation(number)}>", "orgLabel", f'"Employer {number}"')


def _sound(number: int, count: int) -> tuple[int, int]:
    """A person of whom nothing is broken, spread over the graph, and whom that person knows."""
    node = number * 7_919 % (PERSONS * blocks(count))
    node += node % PERSONS == 0
    return node, node - node % PERSONS + (node + 1) % PERSONS


def person(number: int) -> str:
    """The IRI of a person."""
    return f"{EX}person/{number}"


def organisation(number: int) -> str:
    """The IRI of the organisation of a block."""
    return f"{EX}organisation/{number}"


def _axioms() -> Iterator[str]:
    for below, above in (("Company", "Organisation"), ("Department", "Company")):
        yield f"<{EX}{below}> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{EX}{above}> .\n"


def _block(number: int, *, broken: bool) -> Iterator[str]:
    company, department = f"<{organisation(number)}>", f"<{EX}department/{number}>"
    yield _said(company, "type", f"<{EX}Company>", RDF)
    yield _said(company, "orgLabel", f'"Company {number}"')
    yield _said(company, "registration", f'"{"de" if broken else "DE"}{number}"')
    yield _said(company, "foundedIn", _typed(1900 + number % 100, "integer"))
    yield _said(company, "note", '"as registered"')
    yield _said(department, "type", f"<{EX}Department>", RDF)
    yield _said(department, "orgLabel", f'"Department {number}"')
    yield _said(department, "parent", company)
    yield _said(department, "foundedIn", _typed(999 if broken else 1950, "integer"))
    for each in range(number * PERSONS, (number + 1) * PERSONS):
        yield from _person(each, department, broken=broken and each % PERSONS == 0)
        if each % 2 == 0:
            yield from _post(each, department, broken=broken and each % PERSONS == 0)


def _person(number: int, employer: str, *, broken: bool) -> Iterator[str]:
    node = f"<{person(number)}>"
    friend = number - number % PERSONS + (number + 1) % PERSONS
    yield _said(node, "type", f"<{EX}Person>", RDF)
    yield _said(node, "fullName", _typed(1000 + number, "integer") if broken else f'"Person {number}"')
    yield _said(node, "title", f'"Person {number}"@en')
    yield _said(node, "title", f'"Person {number}, that is"@en' if broken else f'"Person {number}"@de')
    born = "2001-02-30" if broken else f"19{number % 90 + 10}-0{number % 9 + 1}-11"
    yield _said(node, "birthDate", _typed(born, "date"))
    yield _said(node, "mail", f'"person {number}"' if broken else f'"person.{number}@mail.example"')
    yield _said(node, "worksFor", employer)
    yield _said(node, "employment", '"away"' if broken else '"active"')
    yield _said(node, "page", f"<{EX}page/{number}>")
    yield _said(node, "knows", f"<{person(friend)}>")


def _post(number: int, employer: str, *, broken: bool) -> Iterator[str]:
    node = f"<{EX}post/{number}>"
    yield _said(node, "holder", f"<{person(number)}>")
    yield _said(node, "start", _typed("2020-05-01", "date"))
    yield _said(node, "end", _typed("2019-05-01" if broken else "2024-05-01", "date"))
    yield _said(node, "at", employer)
    yield _said(node, "remark" if broken else "type", f"<{EX}Post>", EX if broken else RDF)


def _said(subject: str, predicate: str, value: str, namespace: str = EX) -> str:
    return f"{subject} <{namespace}{predicate}> {value} .\n"


def _typed(value: object, datatype: str) -> str:
    return f'"{value}"^^<{XSD}{datatype}>'
