"""Queries at random, of all that a query of a shape may be made of."""

from __future__ import annotations

from hypothesis import strategies as st

TERMS = ("$this", "?x", "?y", "?z", ":a", ":b")
PATHS = (":p", ":q", "a", "^:p", ":p/:q", ":p/^:p", ":p|:q", ":p*", ":p+", ":q?", "a/rdfs:subClassOf*", "!:p", "?v")
VALUES = (*TERMS, "1", "'x'", ":C")
EXPRESSIONS = (
    "?x = ?y",
    "?x != $this",
    "bound(?y)",
    "!bound(?z)",
    "isIRI(?x)",
    "isLiteral(?y) || ?x = :b",
    "$this = :a",
    "?z IN (:a, 1)",
)
BINDS = ("BIND ($this AS ?w)", "BIND (?x AS ?w) ?w :q ?y .", "BIND (:a AS ?u) ?u :p ?z .")
HEADS = ("SELECT $this", "SELECT DISTINCT $this", "SELECT $this (?x AS ?value)", "SELECT $this ?value ?x")


def triples() -> st.SearchStrategy[str]:
    return st.builds("{} {} {} .".format, st.sampled_from(TERMS), st.sampled_from(PATHS), st.sampled_from(VALUES))


def anchored() -> st.SearchStrategy[str]:
    """A triple about the focus, so that not all is everywhere."""
    return st.builds("$this {} {} .".format, st.sampled_from(PATHS), st.sampled_from(("?x", "?y", ":b", "1")))


@st.composite
def groups(draw: st.DrawFn, depth: int = 2) -> str:
    parts = draw(st.lists(st.one_of(anchored(), anchored(), triples()), max_size=2))
    for _ in range(draw(st.integers(0, 2)) if depth else 0):
        inner, other = draw(groups(depth - 1)), draw(groups(depth - 1))
        parts.append(
            draw(
                st.sampled_from(
                    [
                        f"OPTIONAL {inner}",
                        f"{inner} UNION {other}",
                        f"FILTER NOT EXISTS {inner}",
                        f"FILTER EXISTS {inner}",
                        f"FILTER (?x = :a || NOT EXISTS {inner})",
                        inner,
                        f"{{ SELECT $this ?x WHERE {inner} }}",
                        f"{{ SELECT DISTINCT $this ?y ?x WHERE {inner} }}",
                        f"{{ SELECT $this (COUNT(?y) AS ?z) WHERE {inner} GROUP BY $this }}",
                        f"{{ SELECT $this ?x (COUNT(?y) AS ?n) WHERE {inner} GROUP BY $this ?x }}",
                    ]
                )
            )
        )
    if draw(st.booleans()):
        parts.append(f"FILTER ({draw(st.sampled_from(EXPRESSIONS))})")
    if draw(st.booleans()):
        parts.append(
            draw(st.sampled_from(["BIND ($this AS ?w)", "BIND (?x AS ?w) ?w :q ?y .", "BIND (:a AS ?u) ?u :p ?z ."]))
        )
    return f"{{ {' '.join(parts)} }}"


def selects() -> st.SearchStrategy[str]:
    """A SELECT query, without prefixes."""
    heads = st.sampled_from(
        ["SELECT $this", "SELECT DISTINCT $this", "SELECT $this (?x AS ?value)", "SELECT $this ?value ?x"]
    )
    return st.builds("{} WHERE {}".format, heads, groups())


def asks() -> st.SearchStrategy[str]:
    return groups().map(lambda group: f"ASK {group}".replace("?y", "$value"))
