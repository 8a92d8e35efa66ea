r"""Results as a table for people.

Rules
-----
* IRIs and plain text stand as they are; a language follows its text; a datatype is left out.
* Data cannot steer the terminal: control characters are shown as escapes.

Example
-------
>>> shown(ox.Literal("caf\x1b[2Jé", language="fr"))
'caf\\x1b[2Jé @fr'
"""

from __future__ import annotations

import re
from typing import Final

import pyoxigraph as ox
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def print_table(body: bytes) -> None:
    """Prints SPARQL results in JSON as a table."""
    results = ox.parse_query_results(body, ox.QueryResultsFormat.JSON)
    console = Console()
    if isinstance(results, ox.QueryBoolean):
        console.print("yes" if results else "no")
        return
    table = Table(*(Column(variable.value, overflow="fold") for variable in results.variables))
    for solution in results:
        table.add_row(*(Text(shown(term)) for term in solution))
    console.print(table)


def shown(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None) -> str:
    """A term as a person reads it; nothing for one that is not bound."""
    if term is None:
        return ""
    if isinstance(term, ox.Literal):
        text = term.value if term.language is None else f"{term.value} @{term.language}"
    else:
        text = term.value if isinstance(term, ox.NamedNode) else str(term)
    return printable(text)


def printable(text: str) -> str:
    """Text that a terminal shows and does not obey."""
    return _CONTROL.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode()
