"""The demo base: what its data files say, as a base believes it once they are in."""

import json
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Final

import pyoxigraph as ox
import pytest

from bridge.base import Base
from bridge.documents.changes_json import read_changes
from bridge.reading.reader import QueryRequest
from bridge.upkeep import demo
from certificates.certificate import Verdict
from certificates.findings import FindingCode
from kernel.access import Principal, Role
from kernel.facts import Fact
from kernel.terms import RDF, Iri, Literal
from kernel.time.instants import BEGINNING, DAY, parse_instant
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing.submitting import Outcome, Submission
from tests.requirements import REPOSITORY

D: Final = "https://demo.example/"
LABEL: Final = Iri("http://www.w3.org/2000/01/rdf-schema#label")
TYPE: Final = Iri(RDF + "type")
HELD_BY, MEMBER_OF = Iri(D + "heldBy"), Iri(D + "memberOf")
READER: Final = Principal("reader", Role.READER)

VERDICTS: Final = {
    "clear": Verdict.CLEAR,
    "contradiction": Verdict.REVIEW,
    "contradiction-known": Verdict.REVIEW,
    "correction": Verdict.CLEAR,
    "doubtful": Verdict.REVIEW,
    "late": Verdict.REVIEW,
    "refused": Verdict.REFUSED,
    "refused-person": Verdict.REFUSED,
}


@pytest.fixture(scope="module")
def base() -> Iterator[Base]:
    """The demo base as it is after the first start."""
    with Base.open(None) as base:
        demo.fill(base, lambda done, total: None)
        yield base


@pytest.fixture(scope="module")
def facts(base: Base) -> list[Fact]:
    with base.ledger.reading() as view:
        return list(view.believed(graph=DEFAULT_GRAPH))


def asked(base: Base, pattern: str, valid_at: str | None = None, as_of: str | None = None) -> set[str]:
    """The local names of what ?x stands for."""
    request = QueryRequest(READER, f"PREFIX : <{D}> SELECT ?x {{ {pattern} }}", "application/sparql-results+json")
    answer = base.reader.query(request, base.reader.moment(as_of, valid_at))
    solutions = ox.parse_query_results(answer.body, ox.QueryResultsFormat.JSON)
    assert isinstance(solutions, ox.QuerySolutions)
    return {str(solution["x"].value).removeprefix(D) for solution in solutions}


def tried(base: Base, name: str, *, dry_run: bool = True) -> Outcome:
    """What comes of an incoming change, if nothing else comes in before it."""
    body = demo.incoming()[name].read_bytes()
    request = read_changes(body, principal=demo.NEWSDESK.id, canonicaliser=base.canonicaliser)
    return base.submit(Submission(request, demo.NEWSDESK, None, sha256(body).digest(), dry_run)).result()


def local(iri: Iri) -> str:
    return iri.value.removeprefix(D)


# --- facts ------------------------------------------------------------------------------------------------------------


def test_there_are_some_690_facts_of_some_130_people_in_22_offices(facts: list[Fact]) -> None:
    kinds = defaultdict(set)
    for fact in facts:
        if fact.statement.predicate == TYPE:
            kinds[fact.statement.object].add(fact.statement.subject)
    assert 600 <= len(facts) <= 700
    assert len(kinds[Iri(D + "Person")]) > 100
    assert len(kinds[Iri(D + "Country")]) == 18
    assert len(kinds[Iri(D + "Office")]) == 22


def test_every_fact_cites_a_source_that_the_base_describes(base: Base, facts: list[Fact]) -> None:
    with base.ledger.reading() as view:
        evidence = view.evidence_of([fact.id for fact in facts])
    cited = {fact.id: {item.content.episode for item in evidence.get(fact.id, [])} for fact in facts}
    described = {fact.statement.subject for fact in facts if fact.statement.object == Iri(D + "Source")}
    assert all(len(episodes) == 1 for episodes in cited.values())
    assert set().union(*cited.values()) == described
    assert len(described) == 26


def test_whatever_has_a_kind_has_one_name(facts: list[Fact]) -> None:
    named = defaultdict(list)
    for fact in facts:
        if fact.statement.predicate == LABEL:
            named[fact.statement.subject].append(fact.statement.object)
    kinds = {fact.statement.subject for fact in facts if fact.statement.predicate == TYPE}
    assert set(named) == kinds
    for (name,) in named.values():
        assert isinstance(name, Literal)
        assert name.lexical.strip() == name.lexical != ""


@pytest.mark.parametrize("predicate", [HELD_BY, MEMBER_OF], ids=local)
def test_terms_of_an_office_and_memberships_of_a_person_never_overlap(facts: list[Fact], predicate: Iri) -> None:
    terms = defaultdict(list)
    for fact in facts:
        if fact.statement.predicate == predicate:
            terms[fact.statement.subject].append(fact.interval)
    assert len(terms) > 20
    for intervals in terms.values():
        for earlier, later in pairwise(sorted(intervals)):
            assert earlier.end <= later.start


def test_every_office_was_held_from_a_known_time_by_somebody(facts: list[Fact]) -> None:
    held = [fact for fact in facts if fact.statement.predicate == HELD_BY]
    offices = {fact.statement.subject for fact in facts if fact.statement.object == Iri(D + "Office")}
    assert {fact.statement.subject for fact in held} == offices
    assert all(fact.interval.start > BEGINNING for fact in held)


@pytest.mark.parametrize(
    ("office", "day", "holder"),
    [
        ("chancellor-of-germany", "1998-10-26", "helmut-kohl"),
        ("chancellor-of-germany", "1998-10-27", "gerhard-schroder"),
        ("president-of-france", "2007-05-16", "nicolas-sarkozy"),
        ("prime-minister-of-the-united-kingdom", "2022-10-01", "liz-truss"),
        ("president-of-the-united-states", "2019-06-01", "donald-trump"),
        ("president-of-the-united-states", "2022-06-01", "joe-biden"),
        ("president-of-the-united-states", "2025-06-01", "donald-trump"),
        ("president-of-russia", "2010", "dmitry-medvedev"),
        ("taoiseach", "2021", "micheal-martin"),
        ("president-of-south-africa", "1995", "nelson-mandela"),
        ("prime-minister-of-australia", "2013-08-01", "kevin-rudd"),
        ("emperor-of-rome", "0000", "augustus"),
        ("emperor-of-rome", "-0001-12-31", "augustus"),
        ("pharaoh-of-egypt", "-1250", "ramesses-ii"),
        ("archon-of-athens", "-0593-10-01", "solon"),
        ("archon-of-athens", "-0592-06-30", "solon"),
        ("pharaoh-of-egypt", "-0029-08-10", "cleopatra-vii"),
        ("president-of-south-africa", "2018-02-14", "jacob-zuma"),
        ("president-of-south-africa", "1989-09-01", "f-w-de-klerk"),
        ("president-of-south-africa", "1999-06-13", "nelson-mandela"),
        ("prime-minister-of-spain", "1982-12-02", "felipe-gonzalez"),
        ("emperor-of-rome", "0014-09-17", "tiberius"),
    ],
)
def test_who_held_an_office_then(base: Base, office: str, day: str, holder: str) -> None:
    assert asked(base, f":{office} :heldBy ?x", day) == {holder}


@pytest.mark.parametrize(
    ("office", "day"),
    [
        ("archon-of-athens", "-0593-05-01"),
        ("archon-of-athens", "-0592-07-01"),
        ("emperor-of-rome", "0014-09-16"),
        ("pharaoh-of-egypt", "-0029-09-01"),
    ],
)
def test_nobody_held_an_office_then(base: Base, office: str, day: str) -> None:
    assert asked(base, f":{office} :heldBy ?x", day) == set()


def test_no_office_is_without_a_holder_for_one_day_between_two(facts: list[Fact]) -> None:
    """A last day that is written as the exclusive end leaves nobody in office on it."""
    terms = defaultdict(list)
    for fact in facts:
        if fact.statement.predicate == HELD_BY:
            terms[fact.statement.subject].append(fact.interval)
    for office, intervals in terms.items():
        for earlier, later in pairwise(sorted(intervals)):
            assert later.start - earlier.end != DAY, local(office)


@pytest.mark.parametrize(
    ("office", "acting", "elected", "person"),
    [
        ("president-of-russia", "2000-05-06", "2000-05-07", "vladimir-putin"),
        ("president-of-poland", "2010-07-07", "2010-08-06", "bronislaw-komorowski"),
        ("president-of-brazil", "1985-04-20", "1985-04-21", "jose-sarney"),
        ("president-of-south-africa", "1989-09-19", "1989-09-20", "f-w-de-klerk"),
    ],
)
def test_who_only_acts_holds_the_office_and_is_marked(
    base: Base, office: str, acting: str, elected: str, person: str
) -> None:
    for day, marked in ((acting, {person}), (elected, set())):
        assert asked(base, f":{office} :heldBy ?x", day) == {person}
        assert asked(base, f":{office} :actingHolder ?x", day) == marked


def test_every_acting_holder_holds_the_office_all_the_while(facts: list[Fact]) -> None:
    held = [fact for fact in facts if fact.statement.predicate == HELD_BY]
    marked = [fact for fact in facts if fact.statement.predicate == Iri(D + "actingHolder")]
    assert len(marked) == 4
    for fact in marked:
        assert any(
            (term.statement.subject, term.statement.object) == (fact.statement.subject, fact.statement.object)
            and term.interval.start <= fact.interval.start < fact.interval.end <= term.interval.end
            for term in held
        )


@pytest.mark.parametrize(
    ("source", "holders"),
    [
        ("livy", {"cincinnatus", "fabius-maximus"}),
        ("plutarch", {"aristides", "sulla", "julius-caesar", "cleopatra-vii"}),
        ("constitution-of-the-athenians", {"solon", "eucleides"}),
        ("ig-i3-1031", {"cleisthenes"}),
        ("dionysius", {"themistocles"}),
        ("king-lists", {"thutmose-iii", "horemheb", "ramesses-ii"}),
        ("royal-monuments", {"hatshepsut", "akhenaten", "tutankhamun"}),
    ],
)
def test_a_source_is_cited_for_what_it_says(base: Base, facts: list[Fact], source: str, holders: set[str]) -> None:
    held = {fact.id: fact.statement.object for fact in facts if fact.statement.predicate == HELD_BY}
    with base.ledger.reading() as view:
        evidence = view.evidence_of(list(held))
    citing = {held[fact] for fact in held if evidence[fact][0].content.episode == Iri(f"{D}source/{source}")}
    assert citing == {Iri(D + holder) for holder in holders}


def test_the_ides_of_march_end_to_end(base: Base) -> None:
    office = ":dictator-of-rome :heldBy ?x"
    assert asked(base, office, "-0043-03-14T23:59:59.999999Z") == {"julius-caesar"}
    assert asked(base, office, "-0043-03-15") == set()
    assert asked(base, ":consul-of-rome :heldBy ?x", "-0043-03-14") == {"julius-caesar"}
    assert asked(base, ":fellow-consul-of-rome :heldBy ?x", "-0043-03-15") == {"mark-antony"}
    assert asked(base, office, "-0043-03-14", "head:1") == set()
    history = (
        "GRAPH <https://w3id.org/muniment/history/https%3A%2F%2Fw3id.org%2Fmuniment%23default> "
        "{ ?fact <https://w3id.org/muniment#subject> :dictator-of-rome ; <https://w3id.org/muniment#validTo> ?x }"
    )
    assert {"-0043-03-15T00:00:00Z", "-0045-01-01T00:00:00Z", "-0456-01-01T00:00:00Z"} <= asked(base, history)
    ends = sorted(map(parse_instant, asked(base, history)))
    assert ends[0] == parse_instant("-0456-01-01T00:00:00Z")
    assert ends[-1] == parse_instant("-0043-03-15T00:00:00Z")


def test_brought_in_again_nothing_changes(base: Base) -> None:
    with base.ledger.reading() as view:
        before = view.head()
        certificates = len(view.certificates(limit=1000))
    demo.fill(base, lambda done, total: None)
    with base.ledger.reading() as view:
        assert view.head().position == before.position
        assert len(view.certificates(limit=1000)) == certificates


def test_all_of_it_is_in_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, timeout=60)
    (wheel,) = tmp_path.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    files = [path for path in (REPOSITORY / "ontology" / "demo").rglob("*") if path.is_file()]
    assert len(files) > 50
    assert {path.relative_to(REPOSITORY).as_posix() for path in files} | {"shapes/demo.ttl"} <= packed


# --- incoming changes -------------------------------------------------------------------------------------------------


def test_every_incoming_change_is_known_here() -> None:
    assert set(demo.incoming()) == set(VERDICTS)
    assert set(demo.submitted()) <= set(VERDICTS)


@pytest.mark.parametrize(("name", "verdict"), VERDICTS.items())
def test_an_incoming_change_gets_the_verdict_that_it_announces(base: Base, name: str, verdict: Verdict) -> None:
    reason = json.loads(demo.incoming()[name].read_bytes())["reason"]
    assert reason.startswith(f"{name.partition('-')[0].capitalize()}: ")
    assert tried(base, name).verdict is verdict


@pytest.mark.parametrize(
    ("name", "proposed"),
    [
        ("contradiction", "olaf-scholz> ends at 2025-05-06"),
        ("contradiction-known", "simon-harris> ends at 2025-01-23"),
        ("late", "george-vi> ends at 1952-02-06"),
    ],
)
def test_a_contradiction_comes_with_the_end_that_is_proposed(base: Base, name: str, proposed: str) -> None:
    findings = [finding for finding in tried(base, name).findings if finding.impact is None]
    assert {finding.code for finding in findings} == {FindingCode.SINGLE_VALUED_BY_SUBJECT}
    assert all(f"it is proposed that <{D}{proposed}" in finding.message for finding in findings)


def test_what_is_refused_or_doubtful_says_why(base: Base) -> None:
    assert [finding.message for finding in tried(base, "refused").findings] == [
        "a term has one :start, a date before its :end"
    ]
    (finding,) = tried(base, "refused-person").findings
    assert "declare the holder" in finding.message
    doubted, changed = tried(base, "doubtful").findings
    assert doubted.code is FindingCode.LOW_CONFIDENCE
    assert changed.impact is not None
    assert (changed.impact.query, changed.impact.gained, changed.impact.lost) == ("dictator-in-439-bce", 1, 0)


def test_the_change_to_review_says_whose_answers_it_changes(base: Base) -> None:
    impacts = [each.impact for each in tried(base, "contradiction").findings if each.impact is not None]
    assert [(each.query, each.owner, each.gained, each.lost) for each in impacts] == [
        ("in-office", "protocol-office", 1, 1)
    ]
    rows = {each.gained: dict(each.row)["holder"] for each in impacts[0].sample}
    assert rows == {True: '"Friedrich Merz"', False: '"Olaf Scholz"'}


def test_the_first_start_leaves_two_changes_to_review_and_one_refused(base: Base) -> None:
    with base.ledger.reading() as view:
        others = [record for record in view.certificates(limit=1000) if record.verdict is not Verdict.CLEAR]
    assert sorted(record.verdict.value for record in others) == ["refused", "review", "review"]
    assert {record.principal for record in others} == {demo.NEWSDESK.id}


def test_a_correction_of_a_date_is_known_from_then_on_and_not_before() -> None:
    with Base.open(None) as base:
        demo.fill(base, lambda done, total: None)
        before = base.reader.head().position
        office = ":president-of-russia :heldBy ?x"
        assert asked(base, office, "1991-07-05") == {"boris-yeltsin"}
        assert tried(base, "correction", dry_run=False).head is not None
        assert asked(base, office, "1991-07-05") == set()
        assert asked(base, office, "1991-07-10") == {"boris-yeltsin"}
        assert asked(base, office, "1991-07-05", f"head:{before}") == {"boris-yeltsin"}
