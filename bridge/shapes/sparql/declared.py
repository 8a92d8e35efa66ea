"""The queries that a shapes graph declares, and that its shapes are judged by (SHACL sections 5.2 and 6.2).

Rules
-----
* A shape is judged by each of its sh:sparql that is not deactivated, and by each constraint component for all of whose
  mandatory parameters it has values. A component of one parameter is a constraint for each value; of several, each may
  have one value.
* A component judges node shapes by sh:nodeValidator, property shapes by sh:propertyValidator, and what these leave over
  by sh:validator. Without a suitable one it judges nothing.
* Parameters are bound under their local names. Their declarations are property shapes, by which `conformance` judges
  the shapes that use them.
* Prefixes are those of sh:prefixes, and of what that imports.
* Reading is total: what is wrong is told with its place, and the rest is read on.

Example
-------
::

    declarations = Declarations(document)
    declarations.constraints(shape, path)                       # by what queries the shape judges
    list(declarations.faults(shapes))                           # what is wrong with any of them
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.shapes.paths import Sequence as PathSequence
from bridge.shapes.paths import read_path, text
from bridge.shapes.sparql.looks import FOCUS, Look, Looks, looks_of
from bridge.shapes.sparql.text import OF_SHAPES, PATH, SHAPE, SHAPES, THIS, VALUE, Declared, Query, prepare
from bridge.shapes.vocabulary import OWL, RDF_TYPE, SH, SUBCLASS_OF, is_blank, sh
from bridge.sparql.scan import Form
from kernel.errors import InvalidTerm, QueryRefused
from kernel.terms import XSD, XSD_STRING, Iri, Literal, Term
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.paths import Path

Fault: TypeAlias = "tuple[Iri, Iri | None, Term | None, str]"
"""The node that something is wrong at, the predicate, the value if it is one, and what is wrong."""

SPARQL: Final = sh("sparql")
SELECT: Final = sh("select")
ASK: Final = sh("ask")
PREFIXES: Final = sh("prefixes")
PARAMETER: Final = sh("parameter")
OPTIONAL: Final = sh("optional")
NODE_VALIDATOR: Final = sh("nodeValidator")
PROPERTY_VALIDATOR: Final = sh("propertyValidator")
VALIDATOR: Final = sh("validator")
COMPONENT: Final = sh("ConstraintComponent")
OF_CONSTRAINTS: Final = sh("SPARQLConstraintComponent")

_PATH: Final = sh("path")
_DECLARE: Final = sh("declare")
_PREFIX: Final = sh("prefix")
_NAMESPACE: Final = sh("namespace")
_IMPORTS: Final = Iri(OWL + "imports")
_FORMS: Final = {NODE_VALIDATOR: Form.SELECT, PROPERTY_VALIDATOR: Form.SELECT, VALIDATOR: Form.ASK}
_TEXTS: Final = {Form.SELECT: SELECT, Form.ASK: ASK}
_TAKEN: Final = frozenset({THIS, VALUE, PATH, "path", *OF_SHAPES})
_LOCAL_NAME: Final = re.compile(r"[^\W\d][\w.\-]*$")
_VARIABLE: Final = re.compile(r"[^\W]\w*")
_PREFIX_NAME: Final = re.compile(r"|[^\W\d_](?:[\w.\-]*[\w\-])?")
_SOME_PATH: Final = "<urn:x-muniment:path>"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a constraint component.

    Args:
        node: its declaration.
        predicate: by which a shape gives it a value.
        name: the variable that has the value.
        is_optional: whether a shape may do without.
    """

    node: Iri
    predicate: Iri
    name: str
    is_optional: bool


@dataclass(frozen=True, slots=True)
class Component:
    """A constraint component of the shapes graph."""

    node: Iri
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Constraint:
    """A query by which a shape judges.

    Args:
        component: the constraint component.
        source: the value of sh:sparql; None for a constraint of another component.
        form: SELECT gives what is at fault; ASK is asked of each value, and false is a fault.
        query: ready to be run.
        looks: what it looks at.
        bound: what is bound beforehand besides the focus and the value.
        severity: its own; None: that of the shape.
        messages: its own, with variables in braces; none: those of the shape.
    """

    component: Iri
    source: Iri | None
    form: Form
    query: Query
    looks: Looks
    bound: Mapping[str, Term]
    severity: Iri | None
    messages: tuple[Literal, ...]


class Declarations:
    """What a shapes graph declares in SPARQL.

    Attributes:
        components: its constraint components.
    """

    def __init__(self, document: ShapesDocument) -> None:
        self._document = document
        self._faults: list[Fault] = []
        nodes = [node for node in document.subjects() if self._is_instance(node, COMPONENT)]
        self.components = tuple(self._component(node) for node in nodes)

    def constraints(self, shape: Iri, path: Path | None) -> tuple[Constraint, ...]:
        """The queries that a shape judges by, of a shapes graph without faults."""
        return tuple(each for each in self._constraints(shape, path) if isinstance(each, Constraint))

    def faults(self, shapes: Iterable[Iri]) -> Iterator[Fault]:
        """What is wrong with what the shapes graph declares, and with how its shapes use it."""
        yield from self._faults
        for component in self.components:
            for predicate, form in _FORMS.items():
                for validator in self._document.nodes(component.node, predicate):
                    yield from self._of_validator(component, validator, predicate, form)
        for shape in shapes:
            paths = [read_path(self._document, each) for each in self._document.objects(shape, _PATH)]
            path = next((each for each in paths if not isinstance(each, str)), None)
            yield from (each for each in self._constraints(shape, path) if not isinstance(each, Constraint))

    def used(self, shape: Iri) -> Iterator[Component]:
        """The components by which a shape is judged, or would be if they had a validator for it."""
        for component in self.components:
            if all(parameter.is_optional or self._values(shape, parameter) for parameter in component.parameters):
                yield component

    def is_idle(self, shape: Iri, component: Component) -> bool:
        """Whether a component that a shape uses has no validator for such a shape."""
        return self._validator(shape, component) is None

    def sources(self, shapes: Iterable[Iri]) -> Iterator[Iri]:
        """The nodes that are no shapes and have properties of shapes: constraints, components, validators."""
        for shape in shapes:
            yield from self._document.nodes(shape, SPARQL)
        for component in self.components:
            yield component.node
            for predicate in (PARAMETER, *_FORMS):
                yield from self._document.nodes(component.node, predicate)

    # --- constraints --------------------------------------------------------------------------------------------------

    def _constraints(self, shape: Iri, path: Path | None) -> Iterator[Constraint | Fault]:
        document = self._document
        for source in document.nodes(shape, SPARQL):
            if not document.is_true(source, sh("deactivated")):
                made = self._made(shape, path, source, OF_CONSTRAINTS, Form.SELECT, {}, ())
                yield made
        for component in self.used(shape):
            found = self._validator(shape, component)
            if found is None:
                continue
            validator, form = found
            for bound in self._bindings(shape, component):
                if isinstance(bound, tuple):
                    yield bound
                else:
                    names = [parameter.name for parameter in component.parameters]
                    yield self._made(shape, path, validator, component.node, form, bound, names)

    def _made(
        self,
        shape: Iri,
        path: Path | None,
        source: Iri,
        component: Iri,
        form: Form,
        bound: Mapping[str, Term],
        names: Sequence[str],
    ) -> Constraint | Fault:
        """The constraint of a query, or what is wrong with it."""
        is_own = component == OF_CONSTRAINTS
        shown = text(path) if path is not None and form is Form.SELECT else None
        query = self._query(source, form, shown, names, tuple(name for name in names if name not in bound))
        if isinstance(query, tuple):
            return query
        own = {**bound, SHAPE: shape, SHAPES: SHAPES_GRAPH}
        looks = {THIS: FOCUS, **{name: Look(term, PathSequence(())) for name, term in own.items()}}
        if form is Form.ASK:
            looks[VALUE] = FOCUS if path is None else FOCUS.then(path)
        try:
            seen = looks_of(query.select, looks)
        except QueryRefused as error:
            return source, _TEXTS[form], None, str(error)
        severities = self._document.nodes(source, sh("severity")) if is_own else []
        return Constraint(
            component=component,
            source=source if is_own else None,
            form=form,
            query=query,
            looks=seen,
            bound=own,
            severity=next(iter(severities), None),
            messages=self._messages(source, component),
        )

    def _query(
        self, source: Iri, form: Form, path: str | None, names: Sequence[str], unbound: tuple[str, ...] = ()
    ) -> Query | Fault:
        predicate = _TEXTS[form]
        texts = self._document.objects(source, predicate)
        if len(texts) != 1 or not isinstance(texts[0], Literal) or texts[0].datatype != XSD_STRING:
            short = f"sh:{predicate.value.removeprefix(SH)}"
            return source, predicate, None, f"it needs one {short}, a query as plain text; it has {len(texts)}"
        prefixes = self._prefixes(source)
        if isinstance(prefixes, tuple):
            return prefixes
        try:
            bound = (THIS, *names) if form is Form.SELECT else (THIS, VALUE, *names)
            return prepare(texts[0].lexical, Declared(tuple(prefixes.items()), path, bound, unbound), form)
        except QueryRefused as error:
            return source, predicate, None, str(error)

    def _messages(self, source: Iri, component: Iri) -> tuple[Literal, ...]:
        own = [(source, sh("message"))]
        if component != OF_CONSTRAINTS:
            own += [(component, sh("message")), (component, sh("labelTemplate"))]
        for node, predicate in own:
            found = [each for each in self._document.objects(node, predicate) if isinstance(each, Literal)]
            if found:
                return tuple(sorted(found, key=lambda each: each.n3))
        return ()

    # --- components ---------------------------------------------------------------------------------------------------

    def _component(self, node: Iri) -> Component:
        parameters: list[Parameter] = []
        if is_blank(node) or node.value.startswith(SH):
            self._faults.append((node, RDF_TYPE, COMPONENT, "a constraint component has an IRI of its own"))
        for each in self._document.nodes(node, PARAMETER):
            found = self._parameter(each)
            if isinstance(found, str):
                self._faults.append((each, _PATH, None, found))
            elif found.name in {known.name for known in parameters}:
                self._faults.append((node, PARAMETER, each, f"two parameters are called {found.name}"))
            else:
                parameters.append(found)
        if all(parameter.is_optional for parameter in parameters):
            self._faults.append((node, PARAMETER, None, "it needs a parameter that is not optional"))
            parameters = []
        return Component(node, tuple(parameters))

    def _parameter(self, node: Iri) -> Parameter | str:
        predicates = self._document.objects(node, _PATH)
        if len(predicates) != 1 or not isinstance(predicates[0], Iri) or is_blank(predicates[0]):
            return "a parameter has one sh:path, which is an IRI"
        match = _LOCAL_NAME.search(predicates[0].value)
        if match is None or _VARIABLE.fullmatch(match[0]) is None:
            return f"the local name of {predicates[0].n3} cannot be that of a variable: use letters, digits and _"
        if match[0] in _TAKEN:
            return f"a parameter cannot be called {match[0]}, which is bound to something else"
        return Parameter(node, predicates[0], match[0], self._document.is_true(node, OPTIONAL))

    def _bindings(self, shape: Iri, component: Component) -> Iterator[dict[str, Term] | Fault]:
        """What the parameters of a component are bound to, for each constraint that a shape makes of it."""
        values = {each: self._values(shape, each) for each in component.parameters}
        if len(component.parameters) == 1:
            [(parameter, terms)] = values.items()
            yield from ({parameter.name: term} for term in terms)
            return
        for parameter, terms in values.items():
            if len(terms) > 1:
                yield (
                    shape,
                    parameter.predicate,
                    None,
                    f"it is given {len(terms)} times: where a component has several parameters, give each once",
                )
                return
        yield {parameter.name: terms[0] for parameter, terms in values.items() if terms}

    def _values(self, shape: Iri, parameter: Parameter) -> list[Term]:
        return self._document.objects(shape, parameter.predicate)

    def _validator(self, shape: Iri, component: Component) -> tuple[Iri, Form] | None:
        first = PROPERTY_VALIDATOR if self._document.objects(shape, _PATH) else NODE_VALIDATOR
        for predicate in (first, VALIDATOR):
            validators = sorted(self._document.nodes(component.node, predicate), key=lambda each: each.value)
            if validators:
                return validators[0], _FORMS[predicate]
        return None

    def _of_validator(self, component: Component, validator: Iri, predicate: Iri, form: Form) -> Iterator[Fault]:
        path = _SOME_PATH if predicate == PROPERTY_VALIDATOR else None
        query = self._query(validator, form, path, [parameter.name for parameter in component.parameters])
        if isinstance(query, tuple):
            yield query

    def _is_instance(self, node: Iri, kind: Iri) -> bool:
        """Whether a node is of a class, or of one below it, by what the shapes graph says (SHACL section 1.1)."""
        seen: set[Iri] = set()
        waiting = self._document.nodes(node, RDF_TYPE)
        while waiting:
            each = waiting.pop()
            if each == kind:
                return True
            if each not in seen:
                seen.add(each)
                waiting += self._document.nodes(each, SUBCLASS_OF)
        return False

    # --- prefixes -----------------------------------------------------------------------------------------------------

    def _prefixes(self, source: Iri) -> dict[str, str] | Fault:
        """The prefixes that a query is read with (SHACL section 5.2.1)."""
        document = self._document
        found: dict[str, str] = {}
        seen: set[Iri] = set()
        waiting = document.nodes(source, PREFIXES)
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            waiting += document.nodes(node, _IMPORTS)
            for declaration in document.nodes(node, _DECLARE):
                pair = self._prefix(declaration)
                if isinstance(pair, str):
                    return declaration, _DECLARE, None, pair
                if found.setdefault(*pair) != pair[1]:
                    return source, PREFIXES, None, f"the prefix {pair[0]}: stands for two namespaces"
        return found

    def _prefix(self, declaration: Iri) -> tuple[str, str] | str:
        prefixes = self._document.objects(declaration, _PREFIX)
        namespaces = self._document.objects(declaration, _NAMESPACE)
        if len(prefixes) != 1 or len(namespaces) != 1:
            return "a prefix declaration has one sh:prefix and one sh:namespace"
        prefix, namespace = prefixes[0], namespaces[0]
        if (
            not isinstance(prefix, Literal)
            or prefix.datatype != XSD_STRING
            or not _PREFIX_NAME.fullmatch(prefix.lexical)
        ):
            return "sh:prefix takes a prefix without its colon, as plain text"
        if not isinstance(namespace, Literal) or namespace.datatype not in (XSD_STRING, XSD + "anyURI"):
            return "sh:namespace takes an IRI, as xsd:anyURI"
        try:
            return prefix.lexical, Iri(namespace.lexical).value
        except InvalidTerm as error:
            return str(error)
