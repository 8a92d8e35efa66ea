"""The text of an update, read into its operations (SPARQL 1.1, section 19.8, rules 3 and 29 to 52).

Rules
-----
* Operations are parted by `;`. Declarations hold from where they stand on, also before a later operation, which the
  engine itself does not read.
* What stands in a WHERE is given to the engine as it is, as a query of all its variables; SERVICE in it is refused. So
  is LOAD, silent or not, unless the caller of this has the documents fetched.
* A label of a blank node is not used in the data of two operations (section 19.6).
* The same tokens as for queries (`bridge.sparql.tokens`), so that what is read here is what the engine reads.

Example
-------
>>> for operation in parse_update("PREFIX : <urn:> CLEAR GRAPH :g ; DELETE WHERE { ?s :p ?o }"):
...     print(type(operation).__name__)
Clear
Modify
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.sparql.query import require_query
from bridge.sparql.scan import Names, scan
from bridge.sparql.tokens import END, place
from bridge.sparql.update.blocks import Tokens, read_block
from bridge.sparql.update.operations import (
    UNNAMED,
    Clear,
    Convey,
    Create,
    DeleteData,
    InsertData,
    Load,
    Modify,
    Reach,
    Transfer,
    Using,
    Where,
)
from kernel.errors import InvalidTerm, QueryRefused
from kernel.terms import Iri

if TYPE_CHECKING:
    from bridge.sparql.tokens import Token
    from bridge.sparql.update.operations import Block, Operation

MOST: Final = 1_000
"""Operations of one request."""

_OPERATIONS: Final = "an operation, such as INSERT, DELETE, CLEAR, DROP, CREATE, ADD, COPY or MOVE,"
_REACHES: Final = {reach.value: reach for reach in Reach}


def parse_update(text: str, base: str | None = None, *, loads: bool = False) -> tuple[Operation, ...]:
    """The operations of an update, in their order; none of a text of declarations alone.

    Args:
        text: the update.
        base: what relative IRIs are relative to until it says so itself, an absolute IRI; None for nothing.
        loads: whether LOAD is taken.

    Raises:
        QueryRefused: it cannot be read, or asks for what is not served.
    """
    return tuple(_Parser(text, base, loads=loads).operations())


class _Parser:
    def __init__(self, text: str, base: str | None, *, loads: bool) -> None:
        self._text = text
        self._loads = loads
        self._tokens = Tokens(text)
        self._names = Names()
        self._names.base = base
        self._declared = [] if base is None else [f"BASE <{base}>"]
        self._labels: set[str] = set()
        self._variables: dict[str, str] = {}

    def operations(self) -> list[Operation]:
        found: list[Operation] = []
        self._prologue()
        while self._tokens.next is not END:
            if len(found) == MOST:
                raise QueryRefused(f"there are more than {MOST} operations", remedy="send several requests")
            found.append(self._operation())
            if self._tokens.next is END:
                break
            separator = self._tokens.take()
            if separator.text != ";":
                raise self._tokens.refusal(separator, "';' or the end")
            self._prologue()
        return found

    # --- declarations -------------------------------------------------------------------------------------------------

    def _prologue(self) -> None:
        while (word := self._tokens.next.keyword) in {"BASE", "PREFIX", "VERSION"} and self._tokens.next.kind == "word":
            self._tokens.take()
            if word == "BASE":
                self._base()
            elif word == "PREFIX":
                self._prefix()
            elif (version := self._tokens.take()).kind != "string":
                raise self._tokens.refusal(version, "a version in quotes")

    def _base(self) -> None:
        token = self._tokens.take()
        self._names.base = self._iri(token).value
        self._declared.append(f"BASE {token.text}")

    def _prefix(self) -> None:
        name, token = self._tokens.take(), self._tokens.take()
        if name.kind != "name" or not name.text.endswith(":") or name.text.count(":") > 1:
            raise self._tokens.refusal(name, "a prefix with its colon")
        if token.kind != "iri":
            raise self._tokens.refusal(token, "an IRI in angle brackets")
        self._names.prefixes[name.text] = self._iri(token).value
        self._declared.append(f"PREFIX {name.text} {token.text}")

    @property
    def _declarations(self) -> str:
        return " ".join(self._declared) + " "

    # --- operations ---------------------------------------------------------------------------------------------------

    def _operation(self) -> Operation:
        token = self._tokens.take()
        match token.text.upper() if token.kind == "word" else "":
            case "INSERT":
                return self._insert(None)
            case "DELETE":
                return self._delete(None)
            case "WITH":
                return self._with()
            case "CLEAR" | "DROP":
                self._skip("SILENT")
                return Clear(self._target())
            case "CREATE":
                silent = self._skip("SILENT")
                self._require("GRAPH")
                return Create(self._iri(self._tokens.take()), silent)
            case "ADD" | "COPY" | "MOVE" as how:
                return self._convey(Transfer(how))
            case "LOAD":
                return self._load(token)
            case _:
                raise self._tokens.refusal(token, _OPERATIONS)

    def _insert(self, graph: Iri | None) -> Operation:
        if graph is None and self._skip("DATA"):
            return InsertData(self._block(variables=False))
        block = self._block(variables=True)
        return Modify(graph, None, block, *self._dataset_and_where())

    def _delete(self, graph: Iri | None) -> Operation:
        if graph is None and self._skip("DATA"):
            return DeleteData(self._block(variables=False))
        if graph is None and self._skip("WHERE"):
            start = self._tokens.next.start
            block = self._block(variables=True)
            return Modify(None, block, None, UNNAMED, self._query(start, self._tokens.end))
        block = self._block(variables=True)
        insert = self._block(variables=True) if self._skip("INSERT") else None
        return Modify(graph, block, insert, *self._dataset_and_where())

    def _with(self) -> Operation:
        graph = self._iri(self._tokens.take())
        token = self._tokens.take()
        if token.kind == "word" and token.keyword == "INSERT":
            return self._insert(graph)
        if token.kind == "word" and token.keyword == "DELETE":
            return self._delete(graph)
        raise self._tokens.refusal(token, "INSERT or DELETE")

    def _convey(self, how: Transfer) -> Convey:
        silent = self._skip("SILENT")
        source = self._graph_or_default()
        self._require("TO")
        return Convey(how, source, self._graph_or_default(), silent)

    def _target(self) -> Iri | Reach:
        token = self._tokens.take()
        if token.kind == "word" and token.keyword in _REACHES:
            return _REACHES[token.keyword]
        if token.kind == "word" and token.keyword == "GRAPH":
            return self._iri(self._tokens.take())
        raise self._tokens.refusal(token, "GRAPH and its name, DEFAULT, NAMED or ALL")

    def _graph_or_default(self) -> Iri | None:
        if self._skip("DEFAULT"):
            return None
        self._skip("GRAPH")
        return self._iri(self._tokens.take())

    def _load(self, token: Token) -> Load:
        if not self._loads:
            raise QueryRefused(
                "LOAD is not served here: nothing is fetched, silently or not",
                remedy="send what you have as a document",
                where=place(self._text, token.start),
            )
        silent = self._skip("SILENT")
        source = self._iri(self._tokens.take())
        graph = None
        if self._skip("INTO"):
            self._require("GRAPH")
            graph = self._iri(self._tokens.take())
        return Load(source, graph, silent)

    # --- their parts --------------------------------------------------------------------------------------------------

    def _block(self, *, variables: bool) -> Block:
        block = read_block(self._text, self._tokens, self._declarations, self._variables if variables else None)
        if variables:
            return block
        if shared := block.labels & self._labels:
            raise QueryRefused(
                f"the blank node {min(shared)} stands in the data of two operations, and belongs to one",
                remedy="give them labels of their own, or use one operation",
                where=block.place,
            )
        self._labels |= block.labels
        return block

    def _dataset_and_where(self) -> tuple[Using, Where]:
        default: list[Iri] = []
        named: list[Iri] = []
        while self._skip("USING"):
            graphs = named if self._skip("NAMED") else default
            graphs.append(self._iri(self._tokens.take()))
        self._require("WHERE")
        start = self._tokens.next.start
        self._pattern()
        return Using(tuple(default), tuple(named)), self._query(start, self._tokens.end)

    def _pattern(self) -> None:
        """Passes over a group, through its closing brace."""
        opening = self._tokens.take()
        if opening.text != "{":
            raise self._tokens.refusal(opening, "'{'")
        depth = 1
        while depth:
            token = self._tokens.take()
            if token is END:
                raise self._tokens.refusal(token, "'}'")
            if token.kind == "mark":
                depth += (token.text == "{") - (token.text == "}")

    def _query(self, start: int, end: int) -> Where:
        """The group as a query, in the same lines, and in the same columns where the declarations leave room."""
        line = self._text.count("\n", 0, start)
        column = start - self._text.rfind("\n", 0, start) - 1
        begun = "\n" * line + "SELECT *"
        padding = " " * (column - len("SELECT *") - (0 if line else len(self._declarations)))
        text = self._declarations + begun + padding + self._text[start:end]
        require_query(scan(text))
        return Where(text)

    def _skip(self, word: str) -> bool:
        """Whether the word comes next; it is passed over."""
        token = self._tokens.next
        found = token.kind == "word" and token.keyword == word
        if found:
            self._tokens.take()
        return found

    def _require(self, word: str) -> None:
        token = self._tokens.take()
        if token.kind != "word" or token.keyword != word:
            raise self._tokens.refusal(token, word)

    def _iri(self, token: Token) -> Iri:
        if token.kind not in {"iri", "name"}:
            raise self._tokens.refusal(token, "an IRI")
        where = place(self._text, token.start)
        iri = self._names.resolve(token)
        if iri is None and token.kind == "name":
            prefix = token.text.partition(":")[0]
            raise QueryRefused(
                f"the prefix {prefix}: is not declared", remedy=f"begin with PREFIX {prefix}: <…>", where=where
            )
        if iri is None:
            raise QueryRefused(
                f"{token.text} is not an absolute IRI", remedy="write it in full, or declare a BASE", where=where
            )
        try:
            return Iri(iri)
        except InvalidTerm as error:
            raise QueryRefused(error.message, remedy=error.remedy, where=where) from error
