"""Bodies of requests, as the tests send them."""

from typing import Any, Final

EX: Final = "https://example.org/"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
M: Final = "https://w3id.org/muniment#"

SHAPES: Final = f"""
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <{EX}> . @prefix xsd: <{XSD}> .
ex:PersonShape a sh:NodeShape ; sh:targetClass ex:Person ;
    sh:property [ sh:path ex:age ; sh:datatype xsd:integer ; sh:message "an age is a whole number" ] .
"""


def change(subject: str, predicate: str, value: object, op: str = "assert", **more: object) -> dict[str, Any]:
    """A change of a statement; a text is an IRI under the example's, other values are given as they are."""
    return {
        "op": op,
        "subject": {"@id": EX + subject},
        "predicate": {"@id": EX + predicate},
        "object": {"@id": EX + value} if isinstance(value, str) else value,
        **more,
    }


def request(*changes: dict[str, Any], **more: object) -> dict[str, Any]:
    """A request of these changes."""
    return {"changes": list(changes), **more}
