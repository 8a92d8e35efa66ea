"""Whether shapes use constraint components as these declare it (SHACL section 6.2.1).

Rules
-----
* The declaration of a parameter is a property shape. A shape that uses the component has to conform to it, or its
  shapes graph is ill-formed: a language that is no text is no constraint.
* It is judged by the engine, on the shapes graph as data.

Example
-------
::

    for place, predicate, value, reason in misuses(document, Declarations(document), model, engine):
        ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.shapes.data import Data
from bridge.shapes.messages import message_of
from kernel.terms import Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.engine import Engine
    from bridge.shapes.model import ShapesModel
    from bridge.shapes.sparql.declared import Declarations, Fault


def misuses(
    document: ShapesDocument, declarations: Declarations, model: ShapesModel, engine: Engine
) -> Iterator[Fault]:
    """What is wrong with the values that shapes give to parameters.

    Args:
        document: a shapes graph without other faults.
        declarations: of the same.
        model: of the same.
        engine: of the same.
    """
    data = Data(
        {
            triple: (document.spelling(triple) or triple[2],) if isinstance(triple[2], Literal) else ()
            for triple in document
        }
    )
    for shape in model.shapes:
        for component in declarations.used(shape):
            for parameter in component.parameters:
                if parameter.node in model.shapes:
                    for result in engine.judge_in(data, parameter.node, shape, ()):
                        said = message_of(document, result)
                        yield shape, parameter.predicate, result.spelled or result.value, f"it does not fit: {said}"
