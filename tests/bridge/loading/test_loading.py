"""Files staged as load sessions: formats, refusals, resumption, repetition, and what becomes of the chunks."""

import json
from collections.abc import Iterator
from pathlib import Path
from tracemalloc import get_traced_memory, start, stop

import pytest

from bridge.base import Base
from bridge.documents.reader import read_document
from bridge.loading import session as loading
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import LISTED, Refusal, Refusals
from bridge.loading.session import Staged, Watch, stage_files
from bridge.loading.staging import decode_changes
from certificates.certificate import Verdict
from certificates.records import DecisionKind
from kernel.access import Principal, Role
from kernel.changes import Assert
from kernel.errors import InvalidDocument, InvalidInterval, InvalidParameter, InvalidTime, NotFound
from kernel.ports.records import CertificateState
from kernel.terms import RDF, XSD, Iri, Literal
from kernel.vocabulary import DEFAULT_GRAPH, GENID, SHAPES_GRAPH, M
from kernel.writing.loading import LoadRequest
from kernel.writing.submitting import Outcome
from tests.bridge.writing import (
    ADMINISTRATOR,
    EDITOR,
    LIVES_IN,
    PATIENCE,
    SetClock,
    decide,
    homes,
    living,
    one_home,
    write,
)

EX = "http://example.org/"
PLAIN = LoadOptions()


@pytest.fixture
def base() -> Iterator[Base]:
    with Base.open(None, host=SetClock()) as opened:
        yield opened


def a_file(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def triples(count: int, predicate: str = "p", first: int = 0) -> list[str]:
    return [f'<{EX}s{number}> <{EX}{predicate}> "{number}" .' for number in range(first, first + count)]


def stage(
    base: Base,
    *files: Path,
    options: LoadOptions = PLAIN,
    by: Principal = ADMINISTRATOR,
    refusals: Refusals | None = None,
) -> Staged:
    return stage_files(base.ledger, files, options, by, Watch(refusals or Refusals(), lambda done, total: None))


def load(base: Base, *files: Path, options: LoadOptions = PLAIN, by: Principal = ADMINISTRATOR) -> Outcome:
    staged = stage(base, *files, options=options, by=by)
    return base.load(LoadRequest(staged.request, by, lambda done: None)).result(PATIENCE)


def staged_changes(base: Base, staged: Staged) -> list[Assert]:
    chunks = base.ledger.staged(staged.request.session or "")
    return [change for chunk in chunks for change in decode_changes(chunk) if isinstance(change, Assert)]


def believed(base: Base, graph: Iri = DEFAULT_GRAPH) -> list[str]:
    with base.ledger.reading() as view:
        return sorted(fact.statement.nquad for fact in view.believed(graph=graph))


def refused(
    base: Base, *files: Path, options: LoadOptions = PLAIN, by: Principal = ADMINISTRATOR
) -> list[tuple[str, int | None, str]]:
    """File, line and code of everything that refuses a load, which leaves nothing behind."""
    refusals = Refusals()
    with pytest.raises(InvalidDocument):
        stage(base, *files, options=options, by=by, refusals=refusals)
    assert base.ledger.staged_sessions() == []
    return [(Path(refusal.file).name, refusal.line, refusal.code) for refusal in refusals.listed]


# --- formats ----------------------------------------------------------------------------------------------------------

SAME = {
    "same.nt": (f'<{EX}a> <{EX}p> "colour"@en-GB .', f'<{EX}a> <{EX}q> "007"^^<{XSD}int> .', f"_:x <{EX}p> <{EX}a> ."),
    "same.nq": (
        f'<{EX}a> <{EX}p> "colour"@en-GB <{EX}g> .',
        f'<{EX}a> <{EX}q> "007"^^<{XSD}int> <{EX}g> .',
        f"_:x <{EX}p> <{EX}a> <{EX}g> .",
    ),
    "same.ttl": (
        f"@prefix : <{EX}> . @prefix xsd: <{XSD}> .",
        ':a :p "colour"@en-GB ; :q "007"^^xsd:int .',
        "[] :p :a .",
    ),
    "same.trig": (
        f"PREFIX : <{EX}> PREFIX xsd: <{XSD}>",
        ':g { :a :p "colour"@en-GB ; :q "007"^^xsd:int . [] :p :a . }',
    ),
    "same.rdf": (
        f'<rdf:RDF xmlns:rdf="{RDF}" xmlns="{EX}"><rdf:Description rdf:about="{EX}a"><p xml:lang="en-GB">colour</p>',
        f'<q rdf:datatype="{XSD}int">007</q></rdf:Description>',
        f'<rdf:Description><p rdf:resource="{EX}a"/></rdf:Description></rdf:RDF>',
    ),
    "same.jsonld": (
        json.dumps(
            [
                {
                    "@id": EX + "a",
                    EX + "p": {"@value": "colour", "@language": "en-GB"},
                    EX + "q": {"@value": "007", "@type": XSD + "int"},
                },
                {EX + "p": {"@id": EX + "a"}},
            ]
        ),
    ),
    "same.ndjson": tuple(
        json.dumps({"op": "assert", "subject": subject, "predicate": EX + predicate, "object": value})
        for subject, predicate, value in (
            (EX + "a", "p", {"@value": "colour", "@language": "en-GB"}),
            (EX + "a", "q", {"@value": "007", "@type": XSD + "int"}),
            ("_:x", "p", {"@id": EX + "a"}),
        )
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_every_format_says_the_same(base: Base, tmp_path: Path, name: str) -> None:
    graph = Iri(EX + "g")
    path = a_file(tmp_path, name, *SAME[name])
    options = PLAIN if name in {"same.nq", "same.trig"} else LoadOptions(graph=graph)
    staged = stage(base, path, options=options)
    changes = staged_changes(base, staged)
    assert {change.statement.graph for change in changes} == {graph}
    said = sorted((change.statement.object.n3, change.spelling.object) for change in changes)
    assert said == [
        ('"7"^^<' + XSD + "integer>", Literal("007", XSD + "int")),
        ('"colour"@en-gb', Literal("colour", language="en-GB")),
        (f"<{EX}a>", None),
    ]
    (node,) = (change.statement.subject for change in changes if change.statement.object == Iri(EX + "a"))
    assert node.value.startswith(GENID)


def test_the_suffix_tells_the_format_and_others_are_named(base: Base, tmp_path: Path) -> None:
    assert stage(base, a_file(tmp_path, "UPPER.NT", *triples(1))).changes == 1
    with pytest.raises(InvalidParameter, match=r"\.csv .*\.ndjson") as caught:
        stage(base, a_file(tmp_path, "facts.csv", "a,b"))
    assert caught.value.where == str(tmp_path / "facts.csv")


def test_a_byte_order_mark_and_line_ends_of_another_system_are_read_past(base: Base, tmp_path: Path) -> None:
    for name, text in {
        "a.nt": f"<{EX}a> <{EX}p> <{EX}b> .\r\n<{EX}a> <{EX}p> <{EX}c> .",
        "b.ttl": f'<{EX}a> <{EX}p> <{EX}d>, "x"@EN .\r\n',
        "c.ndjson": json.dumps({"op": "assert", "subject": "urn:a", "predicate": "urn:b", "object": {"@id": "urn:c"}}),
    }.items():
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert stage(base, *(tmp_path / name for name in ("a.nt", "b.ttl", "c.ndjson"))).changes == 5


def test_valid_times_of_the_options_go_for_what_brings_none(base: Base, tmp_path: Path) -> None:
    path = a_file(tmp_path, "a.ndjson", a_change(), a_change(validFrom="1990", confidence=0.5))
    options = LoadOptions(valid_from="2001", valid_through="2002")
    none, own = staged_changes(base, stage(base, path, options=options))
    assert none.validity == options.validity
    assert own.validity == LoadOptions(valid_from="1990").validity
    assert str(own.confidence) == "0.5"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (LoadOptions(valid_from="2024-02-30"), InvalidTime),
        (LoadOptions(valid_from="2024", valid_to="2024"), InvalidInterval),
        (LoadOptions(valid_to="2024", valid_through="2024"), InvalidParameter),
    ],
)
def test_valid_times_that_cannot_be_refuse_the_load(
    base: Base, tmp_path: Path, options: LoadOptions, error: type[Exception]
) -> None:
    with pytest.raises(error):
        stage(base, a_file(tmp_path, "a.nt", *triples(1)), options=options)
    assert base.ledger.staged_sessions() == []


def test_a_file_that_grows_while_it_is_read_is_refused(base: Base, tmp_path: Path) -> None:
    path = a_file(tmp_path, "a.nt", *triples(3))

    def grow(done: int, total: int) -> None:
        with path.open("a") as file:
            file.write(f"<{EX}late> <{EX}p> <{EX}o> .\n")

    with pytest.raises(InvalidDocument, match="written to while it was read"):
        stage_files(base.ledger, [path], PLAIN, ADMINISTRATOR, Watch(Refusals(), grow))
    assert base.ledger.staged_sessions() == []


@pytest.mark.parametrize("lines", [(), ("# nothing",), ("",)])
@pytest.mark.parametrize("suffix", ["nt", "ttl"])
def test_nothing_to_load_is_an_error(base: Base, tmp_path: Path, suffix: str, lines: tuple[str, ...]) -> None:
    with pytest.raises(InvalidDocument, match="nothing"):
        stage(base, a_file(tmp_path, f"empty.{suffix}", *lines))


# --- what is refused --------------------------------------------------------------------------------------------------


def a_change(**members: object) -> str:
    said = {"op": "assert", "subject": "urn:a", "predicate": "urn:p", "object": {"@id": "urn:b"}}
    return json.dumps(said | members)


BAD = {
    "bad.nt": (
        [
            f"<{EX}a> <{EX}p> <{EX}b> .",
            f"<{EX}a> <{EX}p q> <{EX}b> .",
            f"<a> <{EX}p> <{EX}b> .",
            f'<{EX}a> <{EX}p> "x"@toolonglanguage .',
            f"<{EX}a> <{EX}p> <{EX}c> .",
        ],
        [(2, "invalid-document"), (3, "invalid-document"), (4, "invalid-document")],
        2,
    ),
    "bad.nq": (
        [
            f"<{EX}a> <{EX}p> <{EX}b> <{GENID}> .",
            f"<{EX}a> <{EX}p> <{EX}b> _:g .",
            f"<{EX}a> <{EX}p> <{EX}b> .",
        ],
        [(1, "forbidden"), (2, "invalid-document")],
        1,
    ),
    "bad.ndjson": (
        [
            "",
            "{nope",
            a_change(op="end"),
            a_change(until="2024"),
            a_change(object="urn:b"),
            a_change(validTo="2024-13"),
            a_change(validFrom="2024", validTo="2023"),
            a_change(validFrom="2024", graph=SHAPES_GRAPH.value),
            a_change(),
        ],
        [
            (2, "invalid-document"),
            (3, "invalid-change"),
            (4, "invalid-change"),
            (5, "invalid-term"),
            (6, "invalid-time"),
            (7, "invalid-interval"),
            (8, "reserved-graph"),
        ],
        1,
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_every_bad_line_is_told_and_the_rest_can_be_loaded(base: Base, tmp_path: Path, name: str) -> None:
    lines, expected, loadable = BAD[name]
    path = a_file(tmp_path, name, *lines)
    assert refused(base, path) == [(name, *each) for each in expected]
    refusals = Refusals()
    staged = stage(base, path, options=LoadOptions(skip_invalid=True), refusals=refusals)
    assert staged.changes == loadable == len(staged_changes(base, staged))
    assert [(each.line, each.code) for each in refusals.listed] == expected


@pytest.mark.parametrize("name", ["long.ttl", "long.nq"])
def test_a_token_that_the_parser_has_no_room_for_is_told(base: Base, tmp_path: Path, name: str) -> None:
    path = a_file(tmp_path, name, f'<{EX}a> <{EX}p> "{"x" * 17_000_000}" .')
    assert refused(base, path) == [(name, None if name == "long.ttl" else 1, "invalid-document")]


def test_bad_lines_of_all_files_are_told_at_once(base: Base, tmp_path: Path) -> None:
    first, second = a_file(tmp_path, "a.nt", "nope"), a_file(tmp_path, "b.ttl", f"<{EX}a> <{EX}p> o .")
    assert refused(base, first, second) == [("a.nt", 1, "invalid-document"), ("b.ttl", 1, "invalid-document")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("broken.ttl", f"<{EX}a> <{EX}p> 1 .\n<{EX}a> <{EX}p> o .\n<{EX}a> <{EX}p> 3 ."),
        ("broken.trig", f"<{EX}g> {{ <{EX}a> <{EX}p> 1 .\n<{EX}a> <{EX}p> ?o }}"),
        ("broken.rdf", f'<rdf:RDF xmlns:rdf="{RDF}">\n<rdf:Description></rdf:RDF>'),
        ("broken.jsonld", '{"@id": "urn:a", "undefined": 1}'),
    ],
)
def test_nothing_after_a_syntax_error_is_loaded_whatever_is_asked(
    base: Base, tmp_path: Path, name: str, text: str
) -> None:
    path = a_file(tmp_path, name, text)
    assert [code for _, _, code in refused(base, path, options=LoadOptions(skip_invalid=True))] == ["invalid-document"]


RECORD = f'<urn:f> <{M}validFrom> "2019"^^<http://www.w3.org/2001/XMLSchema#gYear> .'


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("a.nq", [f"<{EX}a> <{EX}p> <{EX}b> .", RECORD]),
        ("a.ttl", [f"<{EX}a> <{EX}p> <{EX}b> .", RECORD]),
        ("a.jsonld", [f'{{"@id": "urn:f", "{M}validFrom": "2019"}}']),
    ],
)
def test_a_statement_whose_record_cannot_be_read_is_not_loaded_as_if_it_had_none(
    base: Base, tmp_path: Path, name: str, lines: list[str]
) -> None:
    path = a_file(tmp_path, name, *lines)
    codes = [code for _, _, code in refused(base, path, options=LoadOptions(skip_invalid=True))]
    assert codes == ["invalid-document"]


QUOTED = f"<urn:f> <{RDF}reifies> <<( <{EX}a> <{EX}p> <{EX}b> )>> ."
EVIDENCE = f"<urn:e> <{M}supports> <urn:f> ."


@pytest.mark.parametrize("name", ["a.nt", "a.ttl"])
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([RECORD], "there is a record, but not of which statement"),
        ([RECORD, QUOTED, EVIDENCE, f"<urn:g> <{M}supports> <urn:e> ."], "it supports what has no record"),
        ([EVIDENCE], "it supports what has no record"),
        ([RECORD, RECORD.replace("2019", "2020"), QUOTED], "is given more than once"),
        ([RECORD, QUOTED, f"<urn:f> <{EX}p> <{EX}b> ."], f"a record has no {EX}p"),
        ([RECORD.replace("2019", "2019-99"), QUOTED], "2019-99"),
    ],
)
def test_a_record_that_cannot_be_read_is_told_and_refuses_the_load(
    base: Base, tmp_path: Path, name: str, lines: list[str], said: str
) -> None:
    path = a_file(tmp_path, name, f"<{EX}a> <{EX}p> <{EX}b> .", *lines)
    refusals = Refusals()
    with pytest.raises(InvalidDocument) as caught:
        stage(base, path, options=LoadOptions(skip_invalid=True), refusals=refusals)
    assert "--skip-invalid" not in caught.value.remedy
    assert said in "\n".join(map(str, refusals.listed))
    assert base.ledger.staged_sessions() == []


def test_a_line_that_cannot_be_read_could_be_part_of_a_record(base: Base, tmp_path: Path) -> None:
    path = a_file(tmp_path, "a.nt", QUOTED, RECORD, f'<urn:f> <{M}validTo> "2020"^^nope .')
    assert refused(base, path, options=LoadOptions(skip_invalid=True)) == [("a.nt", 3, "invalid-document")]


def test_what_brings_no_record_takes_the_times_of_the_options(base: Base, tmp_path: Path) -> None:
    path = a_file(tmp_path, "a.nt", f"<{EX}a> <{EX}p> <{EX}b> .", f"<{EX}a> <{EX}p> <{EX}c> .", RECORD, QUOTED)
    options = LoadOptions(valid_from="1990", valid_to="1991")
    found = {
        each.statement.object.n3: each.validity for each in staged_changes(base, stage(base, path, options=options))
    }
    assert found == {f"<{EX}b>": LoadOptions(valid_from="2019").validity, f"<{EX}c>": options.validity}


def test_a_claimed_literal_is_the_spelling_of_a_record_that_has_none(base: Base, tmp_path: Path) -> None:
    text = f'<{EX}a> <{EX}p> "007"^^<{XSD}int> {{| <{M}validFrom> "2019"^^<{XSD}gYear> |}} .'
    (change,) = staged_changes(base, stage(base, a_file(tmp_path, "a.ttl", text)))
    assert (change.statement.object.n3, change.spelling.object) == (
        f'"7"^^<{XSD}integer>', Literal("007", f"{XSD}int"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "written", "text"),
    [
        ("a.nt", "application/n-triples", f'<{EX}a> <{EX}p> "ok"@EN .\n<{EX}a> <{EX}p> "x"@en-GB ; .'),
        ("a.nt", "application/n-triples", f"<a> <{EX}p> <{EX}b> ."),
        ("a.nt", "application/n-triples", "\x1f\x8b ."),
        ("a.nq", "application/n-quads", f'<{EX}a> <{EX}p> "x'),
        ("a.ttl", "text/turtle", f'\ufeff<{EX}a> <{EX}p> "ok"@EN, "x"@EN o .'),
        ("a.ttl", "text/turtle", f"ex:a <{EX}p> o ."),
        ("a.rdf", "application/rdf+xml", "<x></y>"),
        ("a.jsonld", "application/ld+json", '{"@id": "urn:a", "p": 1}'),
    ],
)
def test_what_cannot_be_read_is_told_in_the_words_that_a_request_is_answered_with(
    base: Base, tmp_path: Path, name: str, written: str, text: str
) -> None:
    refusals = Refusals()
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidDocument):
        stage(base, tmp_path / name, refusals=refusals)
    with pytest.raises(InvalidDocument) as caught:
        read_document(text.encode(), written, canonicaliser=base.canonicaliser)
    (told,) = refusals.listed
    answered = str(caught.value)
    assert told.message == (answered if told.line is None else answered.removeprefix(f"line {told.line}, "))
    assert told.line is not None or not name.endswith((".nt", ".nq", ".ttl"))


def test_a_statement_that_may_not_be_written_does_not_end_its_document(base: Base, tmp_path: Path) -> None:
    text = f'<{GENID}g> {{ <{EX}a> <{EX}p> "secret" }} <{EX}g> {{ <{EX}a> <{EX}p> 1 }}'
    refusals = Refusals()
    staged = stage(base, a_file(tmp_path, "a.trig", text), options=LoadOptions(skip_invalid=True), refusals=refusals)
    assert (staged.changes, refusals.by_code) == (1, {"forbidden": 1})


def test_a_writer_loads_only_into_graphs_that_it_may_write(base: Base, tmp_path: Path) -> None:
    held = Principal("held", Role.WRITER, frozenset({Iri(EX + "mine")}))
    path = a_file(tmp_path, "a.nq", f"<{EX}a> <{EX}p> <{EX}b> <{EX}mine> .", f"<{EX}a> <{EX}p> <{EX}b> <{EX}yours> .")
    assert refused(base, path, by=held) == [("a.nq", 2, "forbidden")]


def test_a_file_with_graphs_does_not_go_into_one(base: Base, tmp_path: Path) -> None:
    path = a_file(tmp_path, "a.nq", f"<{EX}a> <{EX}p> <{EX}b> <{EX}g> .", f"<{EX}a> <{EX}p> <{EX}b> .")
    assert refused(base, path, options=LoadOptions(graph=Iri(EX + "h"))) == [("a.nq", 1, "invalid-document")]


def test_however_many_lines_are_bad_few_are_kept_and_all_are_counted_and_given_on(base: Base, tmp_path: Path) -> None:
    told: list[Refusal] = []
    refusals = Refusals(told.append)
    path = a_file(tmp_path, "a.nt", *("nope" for _ in range(LISTED + 5)), *triples(1))
    with pytest.raises(InvalidDocument) as caught:
        stage(base, path, refusals=refusals)
    assert caught.value.data == {"refused": LISTED + 5}
    assert len(refusals.listed) == LISTED
    assert [refusal.line for refusal in told] == list(range(1, LISTED + 6))


# --- blank nodes ------------------------------------------------------------------------------------------------------


def subjects(base: Base, staged: Staged) -> list[Iri]:
    return [change.statement.subject for change in staged_changes(base, staged)]


def test_a_label_is_one_node_throughout_a_file_and_another_in_the_next(base: Base, tmp_path: Path) -> None:
    lines = (f"_:x <{EX}p> {number} ." for number in range(3))
    first = a_file(tmp_path, "a.ttl", *lines)
    second = a_file(tmp_path, "b.ttl", f"_:x <{EX}p> 3 . [] <{EX}p> 4 . [] <{EX}p> 5 .")
    nodes = subjects(base, stage(base, first, second))
    assert len(set(nodes[:3])) == 1
    assert len(set(nodes[2:])) == 4


def test_nobody_can_work_out_a_node_from_the_file(tmp_path: Path) -> None:
    path = a_file(tmp_path, "a.nt", f"_:x <{EX}p> <{EX}o> .")
    nodes = []
    for _ in range(2):
        with Base.open(None, host=SetClock()) as base:
            nodes += subjects(base, stage(base, path))
    assert len(set(nodes)) == 2


# --- interruption and repetition --------------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "CHUNK", 3)


def kill_after(base: Base, chunks: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Ends the process before one more chunk than so many is staged; answers the numbers of those that are."""
    stage_chunk, done = base.ledger.stage, list[int]()

    def killing(session: str, chunk: int, data: bytes) -> None:
        if len(done) == chunks:
            raise Killed
        stage_chunk(session, chunk, data)
        done.append(chunk)

    monkeypatch.setattr(base.ledger, "stage", killing)
    return done


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("killed_after", [0, 1, 2, 3, 4])
def test_an_interrupted_session_goes_on_at_the_first_chunk_that_is_not_there(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_after: int
) -> None:
    lines = [f"[] <{EX}p> {number} . _:x <{EX}p> {number} ." for number in range(6)]
    path = a_file(tmp_path, "a.ttl", *lines)
    with monkeypatch.context() as patch:
        done = kill_after(base, killed_after, patch)
        if killed_after < 4:
            with pytest.raises(Killed):
                stage(base, path)
            assert done == list(range(killed_after))
        else:
            stage(base, path)
    with monkeypatch.context() as patch:
        done = kill_after(base, 99, patch)
        staged = stage(base, path)
        assert done == list(range(killed_after, 4))
    nodes = subjects(base, staged)
    assert staged.changes == len(nodes) == 12
    assert len(set(nodes[::2])) == 6
    assert len(set(nodes[1::2])) == 1


@pytest.mark.usefixtures("small_chunks")
def test_refusals_are_told_again_when_a_session_goes_on(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_file(tmp_path, "a.nt", "nope", *triples(7))
    options = LoadOptions(skip_invalid=True)
    with monkeypatch.context() as patch:
        kill_after(base, 1, patch)
        with pytest.raises(Killed):
            stage(base, path, options=options)
    refusals = Refusals()
    stage(base, path, options=options, refusals=refusals)
    assert [refusal.line for refusal in refusals.listed] == [1]


def test_the_same_files_loaded_again_get_the_certificate_they_got(base: Base, tmp_path: Path) -> None:
    path = a_file(tmp_path, "a.nt", *triples(5))
    first = load(base, path)
    staged = stage(base, a_file(tmp_path, "moved.nt", *triples(5)))
    assert staged.changes is None
    again = base.load(LoadRequest(staged.request, ADMINISTRATOR, lambda done: None)).result(PATIENCE)
    assert (again.certificate, again.head) == (first.certificate, first.head)
    assert len(believed(base)) == 5


@pytest.mark.parametrize(
    "options",
    [
        LoadOptions(graph=Iri(EX + "g")),
        LoadOptions(valid_from="2020"),
        LoadOptions(valid_to="2020"),
        LoadOptions(valid_through="2020"),
        LoadOptions(reason="because"),
        LoadOptions(episode=Iri(EX + "book")),
        LoadOptions(skip_invalid=True),
    ],
)
def test_other_options_are_another_load(base: Base, tmp_path: Path, options: LoadOptions) -> None:
    path = a_file(tmp_path, "a.nt", *triples(2))
    assert load(base, path).certificate != load(base, path, options=options).certificate


def test_other_content_another_order_and_another_principal_are_another_load(base: Base, tmp_path: Path) -> None:
    one, other = a_file(tmp_path, "a.nt", *triples(1)), a_file(tmp_path, "b.nt", *triples(1, "q"))
    turtle = a_file(tmp_path, "a.ttl", *triples(1))
    sessions = {
        stage(base, *files, by=by).request.session
        for files, by in (
            ((one,), ADMINISTRATOR),
            ((turtle,), ADMINISTRATOR),
            ((other,), ADMINISTRATOR),
            ((one, other), ADMINISTRATOR),
            ((other, one), ADMINISTRATOR),
            ((one,), EDITOR),
        )
    }
    assert len(sessions) == 6


def test_again_loads_files_anew_and_the_newest_answer_counts(base: Base, tmp_path: Path) -> None:
    path, again = a_file(tmp_path, "a.nt", *triples(2)), LoadOptions(again=True)
    certificates = [load(base, path, options=options).certificate for options in (PLAIN, again, again, PLAIN)]
    assert certificates[3] == certificates[2]
    assert len(set(certificates)) == 3
    assert len(believed(base)) == 2


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("resumed", [PLAIN, LoadOptions(again=True)])
def test_another_attempt_that_was_interrupted_is_gone_on_with(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resumed: LoadOptions
) -> None:
    path = a_file(tmp_path, "a.nt", *triples(7))
    first = load(base, path)
    with monkeypatch.context() as patch:
        kill_after(base, 1, patch)
        with pytest.raises(Killed):
            stage(base, path, options=LoadOptions(again=True))
    assert stage(base, path, options=resumed).changes == 7
    assert load(base, path, options=resumed).certificate not in {None, first.certificate}


# --- what becomes of the chunks ---------------------------------------------------------------------------------------


def test_chunks_are_gone_once_a_load_is_applied(base: Base, tmp_path: Path) -> None:
    assert load(base, a_file(tmp_path, "a.nt", *triples(2))).state is CertificateState.APPLIED
    assert base.ledger.staged_sessions() == []


def test_chunks_are_gone_once_a_load_is_refused(base: Base, tmp_path: Path) -> None:
    shapes(base, tmp_path)
    outcome = load(base, a_file(tmp_path, "a.ttl", f"<{EX}a> a <{EX}Person> ."))
    assert (outcome.verdict, outcome.state) == (Verdict.REFUSED, CertificateState.REFUSED)
    assert base.ledger.staged_sessions() == []
    assert believed(base) == []


def in_review(base: Base, folder: Path) -> Outcome:
    """A load that waits, because somebody would live in two places."""
    write(base, *one_home(propose="KeepBoth"), by=ADMINISTRATOR)
    rome, paris = (f"<{EX}ann> {LIVES_IN.n3} <{EX}{home}> ." for home in ("rome", "paris"))
    outcome = load(base, a_file(folder, "homes.nt", rome, paris))
    assert outcome.state is CertificateState.PENDING
    assert len(base.ledger.staged_sessions()) == 1
    assert homes(base) == set()
    return outcome


@pytest.mark.parametrize(
    ("decision", "state", "count"),
    [
        (DecisionKind.APPROVE, CertificateState.APPLIED, 2),
        (DecisionKind.REJECT, CertificateState.REJECTED, 0),
    ],
)
def test_a_load_in_review_keeps_its_chunks_until_it_is_decided(
    base: Base, tmp_path: Path, decision: DecisionKind, state: CertificateState, count: int
) -> None:
    waiting = in_review(base, tmp_path)
    assert decide(base, waiting.certificate, decision, by=ADMINISTRATOR).state is state
    assert base.ledger.staged_sessions() == []
    assert len(homes(base)) == count


def test_chunks_are_gone_once_an_approval_finds_the_load_stale(base: Base, tmp_path: Path) -> None:
    waiting = in_review(base, tmp_path)
    write(base, Assert(living(Iri(EX + "rome"))))
    assert decide(base, waiting.certificate, by=ADMINISTRATOR).state is CertificateState.STALE
    assert base.ledger.staged_sessions() == []
    assert homes(base) == {Iri(EX + "rome")}


def test_what_others_left_is_dropped_unless_an_editor_still_needs_it(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = in_review(base, tmp_path)
    (needed,) = base.ledger.staged_sessions()
    abandoned = stage(base, a_file(tmp_path, "abandoned.nt", *triples(1))).request.session
    assert set(base.ledger.staged_sessions()) == {needed, abandoned}
    staged = stage(base, a_file(tmp_path, "new.nt", *triples(2))).request.session
    assert set(base.ledger.staged_sessions()) == {needed, staged}
    assert decide(base, waiting.certificate, by=ADMINISTRATOR).state is CertificateState.APPLIED


def test_a_session_of_which_nothing_is_staged_is_not_loaded(base: Base, tmp_path: Path) -> None:
    staged = stage(base, a_file(tmp_path, "a.nt", *triples(1)))
    base.ledger.unstage(staged.request.session or "")
    with pytest.raises(NotFound):
        base.load(LoadRequest(staged.request, ADMINISTRATOR, lambda done: None)).result(PATIENCE)


# --- judged whole (case 49) -------------------------------------------------------------------------------------------

PERSON = f"""
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <{EX}> .
:PersonShape a sh:NodeShape ; sh:targetClass :Person ;
  sh:property [ sh:path :knows ; sh:class :Person ; sh:minCount 1 ] .
"""


def shapes(base: Base, folder: Path) -> None:
    outcome = load(base, a_file(folder, "shapes.ttl", PERSON), options=LoadOptions(graph=SHAPES_GRAPH))
    assert outcome.state is CertificateState.APPLIED


@pytest.mark.usefixtures("small_chunks")
def test_a_file_whose_first_half_refers_to_its_second_is_clear(base: Base, tmp_path: Path) -> None:
    shapes(base, tmp_path)
    knows = [f"<{EX}s{number}> <{EX}knows> <{EX}s{(number + 1) % 8}> ." for number in range(8)]
    people = [f"<{EX}s{number}> a <{EX}Person> ." for number in range(8)]
    outcome = load(base, a_file(tmp_path, "people.ttl", *people, *knows))
    assert (outcome.verdict, outcome.findings) == (Verdict.CLEAR, ())
    assert len(believed(base)) == 16


@pytest.mark.usefixtures("small_chunks")
def test_a_file_that_breaks_a_shape_is_refused_whole_with_what_breaks_it(base: Base, tmp_path: Path) -> None:
    shapes(base, tmp_path)
    people = [f"<{EX}s{number}> a <{EX}Person> ; <{EX}knows> <{EX}s{number + 1}> ." for number in range(8)]
    outcome = load(base, a_file(tmp_path, "people.ttl", *people))
    assert outcome.verdict is Verdict.REFUSED
    assert {(finding.focus, finding.value) for finding in outcome.findings} == {(f"<{EX}s7>", f"<{EX}s8>")}
    assert believed(base) == []
    load(base, a_file(tmp_path, "missing.ttl", f"<{EX}s8> a <{EX}Person> ; <{EX}knows> <{EX}s8> ."))
    again = load(base, a_file(tmp_path, "people.ttl", *people))
    assert (again.verdict, again.certificate != outcome.certificate) == (Verdict.CLEAR, True), "judged anew"


# --- memory -----------------------------------------------------------------------------------------------------------


def peak(base: Base, path: Path) -> int:
    """Bytes that staging a file held at once."""
    start()
    stage(base, path)
    held = get_traced_memory()[1]
    stop()
    return held


@pytest.mark.parametrize("suffix", ["nt", "ttl"])
def test_memory_does_not_grow_with_the_file(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(loading, "CHUNK", 500)
    monkeypatch.setattr("bridge.loading.lines.BLOCK", 2**15)
    # The same few terms over and over: caches of terms are bounded, but far larger than this.
    short, long = (
        a_file(
            tmp_path,
            f"{count}.{suffix}",
            *(f'<{EX}s{number % 50}> <{EX}p> "{number % 50}" .' for number in range(count)),
        )
        for count in (2_000, 10_000)
    )
    stage(base, short)
    base.ledger.unstage(stage(base, short).request.session or "")
    assert peak(base, long) < peak(base, short) * 2  # of a file five times as long
