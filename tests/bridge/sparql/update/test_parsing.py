"""Texts of updates, read into operations."""

from __future__ import annotations

import pytest

from bridge.documents.skolem import Skolem
from bridge.sparql.update.operations import Clear, Convey, Create, InsertData, Modify, Reach, Transfer, Using
from bridge.sparql.update.parsing import parse_update
from bridge.sparql.update.templates import BlockReader
from bridge.terms import OxigraphCanonicaliser
from kernel.errors import QueryRefused
from kernel.terms import Iri

PREFIX = "PREFIX : <urn:> "
REIFIES = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"


def inserted(block: str) -> list[str]:
    """What INSERT DATA of a block says, a blank node by its label."""
    [operation] = parse_update(f"{PREFIX}INSERT DATA {{ {block} }}")
    assert isinstance(operation, InsertData)
    labels: dict[str, Iri] = {}
    quads = BlockReader(OxigraphCanonicaliser()).statements(
        operation.block, lambda label: labels.setdefault(label, Iri(f"urn:blank{len(labels)}"))
    )
    return [
        f"{quad.statement.nquad}" if quad.graph else f"{quad.statement.nquad[:-2].rpartition(' ')[0]} ."
        for quad in quads
    ]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("", []),
        (":a :b :c", ["<urn:a> <urn:b> <urn:c> ."]),
        (":a :b :c .", ["<urn:a> <urn:b> <urn:c> ."]),
        (":a :b :c . GRAPH :g { :a :b :c }", ["<urn:a> <urn:b> <urn:c> .", "<urn:a> <urn:b> <urn:c> <urn:g> ."]),
        ("GRAPH :g { :a :b :c . } . :a :b :c", ["<urn:a> <urn:b> <urn:c> <urn:g> .", "<urn:a> <urn:b> <urn:c> ."]),
        ("graph<urn:g>{:a:p :b:c 1}graph<urn:h>{}", ["<urn:a:p> <urn:b:c>"]),
        (":a a :b ; :c '}', \"{ GRAPH\" # } GRAPH\n", None),
        (":a :b True , FALSE , 1.5 , -3 , 'x'@en-GB", None),
        (":a :b _:x . GRAPH :g { _:x :b [] }", None),
        (":a :b ( 1 [ :c 2 ] )", None),
        ("<< :a :b :c ~ :r >> :p 1", ["<urn:r> <urn:p>", f"<urn:r> {REIFIES} <<( <urn:a> <urn:b> <urn:c> )>> ."]),
        (":a :b :c {| :p 1 |} . GRAPH :g { :a :b <<( :a :b 'x' )>> }", None),
        ("GRAPH :g { :a :b :c {| :p [ :q 1 ] |} }", None),
    ],
)
def test_a_block_is_read_with_all_its_short_forms(block: str, said: list[str] | None) -> None:
    found = inserted(block)
    if said is None:
        assert found
    else:
        assert len(found) == len(said)
        assert all(any(line.startswith(part) for line in found) for part in said)


def test_declarations_hold_from_where_they_stand() -> None:
    text = (
        "PREFIX : <urn:a:> DROP GRAPH :g ; "
        "PREFIX : <urn:b:> BASE <http://e/> CREATE SILENT GRAPH :g ; clear graph <x> ;"
    )
    assert parse_update(text) == (
        Clear(Iri("urn:a:g")),
        Create(Iri("urn:b:g"), silent=True),
        Clear(Iri("http://e/x")),
    )
    assert parse_update("PREFIX : <urn:> # nothing") == ()


def test_graphs_are_conveyed() -> None:
    text = f"{PREFIX}COPY :a TO :b ; move silent graph :a to default ; ADD DEFAULT TO GRAPH :b ; DROP NAMED"
    a, b = Iri("urn:a"), Iri("urn:b")
    assert parse_update(text) == (
        Convey(Transfer.COPY, a, b, silent=False),
        Convey(Transfer.MOVE, a, None, silent=True),
        Convey(Transfer.ADD, None, b, silent=False),
        Clear(Reach.NAMED),
    )


def test_a_where_is_kept_as_it_stands_in_its_place() -> None:
    where = "{ ?s :p ?o { } '}' }"
    text = (
        f"{PREFIX}\nWITH :g DELETE {{ ?s :p ?o }}\nINSERT {{ ?s :p $n }} USING :h USING NAMED :i\n"
        f"  WHERE {where} ; CLEAR ALL"
    )
    modify, clear = parse_update(text)
    assert isinstance(modify, Modify)
    assert (modify.graph, modify.using) == (Iri("urn:g"), Using((Iri("urn:h"),), (Iri("urn:i"),)))
    assert modify.delete is not None
    assert modify.insert is not None
    assert set(modify.delete.variables) | set(modify.insert.variables) == {"s", "o", "n"}
    lines = modify.where.text.split("\n")
    assert lines[3][8:] == where
    assert lines[3].startswith("SELECT *")
    assert clear == Clear(Reach.ALL)


def test_variables_stand_for_the_same_in_both_templates() -> None:
    [modify] = parse_update("DELETE { ?s ?p ?o } INSERT { ?o ?p ?s } WHERE { ?s ?p ?o }")
    assert isinstance(modify, Modify)
    assert modify.delete is not None
    assert modify.insert is not None
    assert modify.delete.variables == {name: modify.insert.variables[name] for name in modify.delete.variables}


def test_a_blank_node_of_one_block_is_one_node_and_of_each_solution_another() -> None:
    reader = BlockReader(OxigraphCanonicaliser())
    [data] = parse_update(f"{PREFIX}INSERT DATA {{ _:b :p 1 . GRAPH :g {{ _:b :p 2 }} }}")
    assert isinstance(data, InsertData)
    assert len({quad.statement.subject for quad in reader.statements(data.block, Skolem())}) == 1
    [modify] = parse_update(f"{PREFIX}INSERT {{ _:b :p 1 . [] :p _:b }} WHERE {{ }}")
    assert isinstance(modify, Modify)
    template = reader.template(modify.insert)
    first, second = ([quad.statement for quad in template.filled({})] for _ in range(2))
    assert first[0].subject == first[1].object
    assert not {each.subject for each in first} & {each.subject for each in second}


@pytest.mark.parametrize(
    "text",
    [
        "INSERT DATA { <urn:a> <urn:b> 1 } INSERT DATA { }",
        "INSERT DATA { <urn:a> <urn:b> 1 } ;; CLEAR ALL",
        "INSERT { <urn:a> <urn:b> 1 }",
        "INSERT WHERE { }",
        "DELETE { <urn:a> <urn:b> 1 . }} WHERE { }",
        "WITH <urn:g> CLEAR ALL",
        "WITH <urn:g> INSERT DATA { <urn:a> <urn:b> 1 }",
        "WITH <urn:g> DELETE WHERE { ?s ?p ?o }",
        "CLEAR",
        "CLEAR SILENT GRAPH",
        "CREATE DEFAULT",
        "COPY <urn:a> <urn:b>",
        "ADD NAMED TO DEFAULT",
        "INSERT DATA { GRAPH ?g { } }",
        "INSERT DATA { _:b <urn:p> 1 } ; INSERT DATA { _:b <urn:p> 2 }",
        "PREFIX x <urn:x> CLEAR ALL",
        "CLEAR ALL \\u003b",
    ],
)
def test_what_is_no_update_is_refused(text: str) -> None:
    with pytest.raises(QueryRefused):
        list(map(BlockReader(OxigraphCanonicaliser()).told, parse_update(text)))


def test_there_is_a_most_of_operations() -> None:
    assert len(parse_update("CLEAR ALL ;" * 1_000)) == 1_000
    with pytest.raises(QueryRefused, match="operations"):
        parse_update("CLEAR ALL ;" * 1_001)
