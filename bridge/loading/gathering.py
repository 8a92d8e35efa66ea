"""Files with records of facts (`bridge.documents.records`): all that they say is gathered before any of it is asserted.

Rules
-----
* The parts of a record, and the statement that it is of, may stand anywhere in a file. So the file is written to a
  temporary database on disk, of which memory holds some pages, and read from there record by record.
* Facts with a record come first, as the records begin in the file, and then what is claimed without one.

Example
-------
>>> from contextlib import closing
>>> from bridge.documents.reader import read_document
>>> from bridge.terms import OxigraphCanonicaliser
>>> canonicaliser = OxigraphCanonicaliser()
>>> text = b'PREFIX m: <https://w3id.org/muniment#> <urn:a> <urn:p> 1 . <urn:f> m:toPrecision m:unknown . ' + (
...     b'<urn:a> <urn:p> <urn:b> . <urn:f> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <urn:a> <urn:p> 1 )>> .'
... )
>>> with closing(Gathered()) as gathered:
...     for each in read_document(text, "text/turtle", canonicaliser=canonicaliser):
...         gathered.add(each)
...     for item in gathered.items(canonicaliser):
...         print(item.statement.object.n3[:7], item.validity and item.validity.end_precision.value)
"1"^^<h unknown
<urn:b> None
"""  # noqa: E501 - a statement on one line

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Final

from bridge.documents.records import RECORD_WORDS, Item, Record
from bridge.exporting.record import SUPPORTS
from kernel.changes import NO_SPELLING
from kernel.errors import CallerError
from kernel.facts import Spelling
from kernel.terms import Statement, Term, parse_iri, parse_literal, parse_term

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.documents.reader import Asserted
    from kernel.ports.outside import TermCanonicaliser

_TOGETHER: Final = 100
"""Statements of one subject that are kept in one row, at most, where they follow each other."""

_CACHE: Final = 32 * 2**10
"""KiB of the database that memory holds, at most."""

_DATA: Final = 0
_FACT: Final = 1
_EVIDENCE: Final = 2
"""What the statements in a row show their subject to be; the highest of a node's rows is what it is."""

_TABLES: Final = (
    f"PRAGMA cache_size = -{_CACHE}",
    "CREATE TABLE said (row INTEGER PRIMARY KEY, key INTEGER, graph TEXT, subject TEXT, kind INTEGER, said TEXT)",
    "CREATE INDEX said_of ON said (key)",
    "CREATE TABLE spelled (key INTEGER, statement TEXT, spelling TEXT)",
    "CREATE INDEX spelled_of ON spelled (key)",
    "CREATE TABLE recorded (key INTEGER, statement TEXT)",
    "CREATE INDEX recorded_of ON recorded (key)",
    "BEGIN",
)


class Gathered:
    """What a file says, on disk until `close`; to be used from one thread."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)  # a nameless file, gone with the connection
        for statement in _TABLES:
            self._database.execute(statement)
        self._held: list[Asserted] = []

    def add(self, asserted: Asserted) -> None:
        """Takes a statement of the file, in their order."""
        statement, held = asserted[0], self._held
        if held:
            first = held[0][0]
            if len(held) == _TOGETHER or (first.subject, first.graph) != (statement.subject, statement.graph):
                self._keep()
        held.append(asserted)

    def items(self, canonicaliser: TermCanonicaliser) -> Iterator[Item | CallerError]:
        """What is to be asserted, once all is added; in place of a record that cannot be read, why not."""
        self._keep()
        for place in self._records(_EVIDENCE):
            try:
                self._record(*place).require_support(self._is_fact)
            except CallerError as error:
                yield error
        for place in self._records(_FACT):
            try:
                item = self._record(*place).item(self._spelling, canonicaliser)
            except CallerError as error:
                yield error
                continue
            self._insert("recorded", item.statement)
            yield item
        yield from self._unrecorded()

    def close(self) -> None:
        """Lets go of the database."""
        self._database.close()

    def _keep(self) -> None:
        """Writes what is held, which is all of one subject."""
        if not self._held:
            return
        first = self._held[0][0]
        words = RECORD_WORDS.intersection(each.predicate for each, _ in self._held)
        kind = _EVIDENCE if SUPPORTS in words else _FACT if words else _DATA
        graph, subject = first.graph.n3, first.subject.n3
        said = [
            (each.predicate.n3, each.object.n3, None if spelling.object is None else spelling.object.n3)
            for each, spelling in self._held
        ]
        values = (hash(subject), graph, subject, kind, json.dumps(said, ensure_ascii=False))
        self._database.execute("INSERT INTO said (key, graph, subject, kind, said) VALUES (?, ?, ?, ?, ?)", values)
        for each, spelling in self._held:
            if spelling.object is not None:
                self._insert("spelled", each, spelling.object.n3)
        self._held.clear()

    def _insert(self, table: str, statement: Statement, *more: str) -> None:
        text = statement.nquad
        marks = ", ?" * len(more)
        self._database.execute(f"INSERT INTO {table} VALUES (?, ?{marks})", (hash(text), text, *more))  # noqa: S608

    def _records(self, kind: int) -> Iterator[tuple[str, str]]:
        """Graph and subject of the records of a kind, in the order in which they begin."""
        for row, graph, subject in self._database.execute(
            "SELECT row, graph, subject FROM said WHERE kind = ? ORDER BY row", (kind,)
        ):
            kinds = {number: shown for number, shown, _ in self._said(graph, subject)}
            if max(kinds.values()) == kind and row == min(number for number, shown in kinds.items() if shown == kind):
                yield graph, subject

    def _record(self, graph: str, subject: str) -> Record:
        record = Record(parse_iri(graph), parse_iri(subject))
        for _, _, said in self._said(graph, subject):
            for statement, spelling in _statements(graph, subject, said):
                record.add(statement.predicate, statement.object, spelling)
        return record

    def _said(self, graph: str, subject: str) -> list[tuple[int, int, str]]:
        """Row, kind and statements of everything that is said of a node in a graph."""
        return self._database.execute(
            "SELECT row, kind, said FROM said WHERE key = ? AND subject = ? AND graph = ? ORDER BY row",
            (hash(subject), subject, graph),
        ).fetchall()

    def _is_fact(self, node: Term) -> bool:
        kinds = self._database.execute(
            "SELECT max(kind) FROM said WHERE key = ? AND subject = ? GROUP BY graph", (hash(node.n3), node.n3)
        )
        return (_FACT,) in kinds

    def _spelling(self, statement: Statement) -> Spelling:
        """How a statement that is claimed is spelled where it is claimed first."""
        text = statement.nquad
        found = self._database.execute(
            "SELECT spelling FROM spelled WHERE key = ? AND statement = ? ORDER BY rowid", (hash(text), text)
        ).fetchone()
        return NO_SPELLING if found is None else Spelling(parse_literal(found[0]))

    def _unrecorded(self) -> Iterator[Item]:
        """What is claimed and has no record."""
        for graph, subject, said in self._database.execute(
            """SELECT graph, subject, said FROM said AS data WHERE kind = 0 AND NOT EXISTS (
                SELECT * FROM said WHERE key = data.key AND subject = data.subject AND graph = data.graph AND kind > 0
            ) ORDER BY row"""
        ):
            for statement, spelling in _statements(graph, subject, said):
                if not self._is_recorded(statement.nquad):
                    yield Item(statement, spelling)

    def _is_recorded(self, text: str) -> bool:
        found = self._database.execute("SELECT 1 FROM recorded WHERE key = ? AND statement = ?", (hash(text), text))
        return found.fetchone() is not None


def _statements(graph: str, subject: str, said: str) -> Iterator[Asserted]:
    """The statements of a row."""
    for predicate, held, submitted in json.loads(said):
        statement = Statement(parse_iri(subject), parse_iri(predicate), parse_term(held), parse_iri(graph))
        yield statement, NO_SPELLING if submitted is None else Spelling(parse_literal(submitted))
