"""NothingLeaks: who may read graph 1 only, meets nothing of graph 2, whatever they ask of whichever route.

Two bases are made by the same requests, but that one has a secret where the other has something dull, in a graph of its
own; so their logs are as long as each other. A reader, a writer and an editor of graph 1 ask both bases the same, in
the same order, on every route of the OpenAPI document and on every page. The answers are equal but for ids, instants,
salts, hashes and signatures; and nothing of the secret is in any of them.

A route that is new has to be asked something here, or `test_every_route_is_asked` fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import httpx2
import pytest
from pydantic import JsonValue

from api.callers.auth import token_hash
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, M, change, request
from tests.api.serving import Served, served

OPEN: Final = EX + "open"
SECRET: Final = EX + "secret"
DULL: Final = EX + "dull"

MARKER: Final = "xyzzy"
"""In every term of the secret, its reasons and sources, and in nothing that is asked."""

HISTORY: Final = "https://w3id.org/muniment/history/"
ONE_ID: Final = {"X-Request-Id": "one"}
TURTLE: Final = {"Content-Type": "text/turtle"}
_ACCEPTS: Final = (
    "application/json, application/sparql-results+json, text/*;q=0.5",
    "text/turtle, text/csv, application/rdf-patch;q=0.2, */*;q=0.1",
)


@dataclass(slots=True)
class World:
    """A base with the secret, or without; and what only its owners know."""

    server: Served
    certificates: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    branch: str = ""

    def wrote(self, *changes: dict[str, Any], **more: object) -> None:
        """Has an administrator change something of the hidden graph; keeps what of it has an id."""
        answer = self.server.client(Role.ADMINISTRATOR).post("/changes", json=request(*changes, **more))
        assert answer.status_code in {201, 202, 422}, answer.text
        self.certificates.append(answer.json()["certificate"].removeprefix("urn:uuid:"))


def hidden(world: World, *, secret: bool) -> None:
    """What the caller may not see: as many certificates with the secret as without."""

    def fact(number: int, **more: object) -> dict[str, Any]:
        if not secret:
            return change(f"dull{number}", "is", f"dull{number}", graph=DULL) | more
        # About the very nodes that the caller knows, with their predicates and with others.
        subject, predicate = ("ada", "knows") if number % 2 else (f"{MARKER}{number}", f"{MARKER}is")
        return change(subject, predicate, {"@value": f"{MARKER} {number}"}, graph=SECRET) | more

    def pointing(number: int) -> dict[str, Any]:
        if not secret:
            return change("dullest", "is", f"dull{number}", graph=DULL)
        return change(f"{MARKER}{number}", "knows", "ada", graph=SECRET)

    why = MARKER if secret else "dull"
    world.wrote(*(fact(number) for number in range(7)), reason=why, episode=f"urn:episode:{why}")
    world.wrote(*(pointing(number) for number in range(5)))
    world.wrote(fact(20, confidence=0.1), reason=why)  # waits for an editor
    world.wrote(fact(1, validFrom="2030-01-01", validTo="2031-01-01"))
    world.wrote({**fact(1), "op": "retract"})
    world.wrote(fact(30), change("ada", "knows", "dan", graph=OPEN), reason=why)  # a fact to see, but not why
    at_home(world, MARKER if secret else "dull", SECRET if secret else DULL)
    graph = SECRET if secret else DULL
    page = world.server.client(Role.ADMINISTRATOR).get("/facts", params={"graph": graph, "valid-at": "any"}).json()
    world.facts += [each["fact"] for each in page["items"]]
    nquads = f"<{EX}{why}> <{EX}{why}> '{why}' .\n"
    sent = world.server.client(Role.ADMINISTRATOR).post(
        f"/changes?graph={quote(graph)}", content=nquads, headers=TURTLE
    )
    assert sent.status_code == 201


def at_home(world: World, where: str, graph: str) -> None:
    """A contradiction that an editor let in."""
    administrator = world.server.client(Role.ADMINISTRATOR)
    _, told = (
        administrator.post("/changes", json=request(change("ada", "homeIn", place, graph=graph)))
        for place in (where, f"{where}2")
    )
    assert told.status_code == 202
    decided = administrator.post(f"{told.headers['Location']}/decision", json={"decision": "approve"})
    assert decided.json()["state"] == "applied"


def filled(server: Served, *, secret: bool) -> World:
    """A world: what is open, and what is hidden, in turns."""
    world = World(server)
    administrator = server.client(Role.ADMINISTRATOR)
    ontology = f"<{EX}ada> <http://www.w3.org/2000/01/rdf-schema#label> 'Ada' ."
    assert administrator.post(f"/changes?graph={quote(M)}ontology", content=ontology, headers=TURTLE).status_code == 201
    rule = f"<{EX}one> a <{M}SingleValuedBySubject> ; <{M}predicate> <{EX}homeIn> ."
    assert administrator.post(f"/changes?graph={quote(M)}rules", content=rule, headers=TURTLE).status_code == 201
    for value in ("bob", {"@value": "text"}):
        opened = request(change("ada", "knows", value, graph=OPEN), reason="open")
        assert administrator.post("/changes", json=opened).status_code == 201
    hidden(world, secret=secret)
    queries: dict[str, dict[str, object]] = {
        "hidden": {"query": f"SELECT * {{ ?s ?p '{MARKER}' }}", "graphs": [SECRET if secret else DULL]},
        "everything": {"query": "SELECT * { ?s ?p ?o }", "action": "note"},
    }
    registered = {name: {**said, "owner": MARKER, "contact": MARKER} for name, said in queries.items()}
    assert administrator.post("/queries", json={"queries": registered}).status_code == 201
    waiting = request(change("ada", "knows", "eve", graph=OPEN, confidence=0.1))
    assert administrator.post("/changes", json=waiting).status_code == 202
    graph, why = (SECRET, MARKER) if secret else (DULL, "dull")
    held = administrator.post("/what-if", json=request(change("ada", why, why, graph=graph), reason=why))
    assert held.status_code == 201, held.text
    world.branch = held.json()["branch"]
    return world


@pytest.fixture(scope="module")
def worlds() -> Iterator[tuple[World, World]]:
    """With the secret, and without."""
    with ExitStack() as stack:
        made = [
            filled(stack.enter_context(served(stack.enter_context(Base.open(None)))), secret=secret)
            for secret in (True, False)
        ]
        yield made[0], made[1]


# --- what is asked ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to make; `{certificate}`, `{own}`, `{fact}`, `{branch}` and `{mine}` stand for ids, which differ."""

    method: str
    path: str
    params: dict[str, str] = field(default_factory=dict)
    sent: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


QUERIES: Final = (
    "SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o",
    "SELECT * { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g ?s ?p ?o",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }",
    "SELECT DISTINCT ?g { GRAPH ?g {} } ORDER BY ?g",
    f"SELECT * FROM <{SECRET}> {{ ?s ?p ?o }}",
    f"SELECT * FROM NAMED <{SECRET}> FROM <{OPEN}> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    f"SELECT * {{ GRAPH <{SECRET}> {{ ?s ?p ?o }} }}",
    f"ASK {{ GRAPH <{SECRET}> {{}} }}",
    f"SELECT * {{ GRAPH <{HISTORY}{quote(SECRET, safe='')}> {{ ?s ?p ?o }} }}",
    f"SELECT (COUNT(*) AS ?n) FROM <{HISTORY}{quote(SECRET, safe='')}> {{ ?s ?p ?o }}",
    f"SELECT ?p (COUNT(*) AS ?n) {{ GRAPH ?g {{ ?f <{M}subject> <{EX}ada> ; ?p ?o }} }} GROUP BY ?p",
    f"SELECT ?o {{ <{EX}ada> (<{EX}knows>|!<{EX}x>)* ?o }} ORDER BY ?o",
    f"SELECT ?s {{ ?s <{EX}knows>+ <{EX}ada> }}",
    f"SELECT * {{ ?s <{EX}knows> ?o FILTER NOT EXISTS {{ GRAPH ?g {{ ?s <{EX}knows> ?o }} }} }} ORDER BY ?o",
    f"DESCRIBE <{EX}ada>",
    "CONSTRUCT { ?s ?p ?o } { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }",
    "SELECT * { ?s ?p ?o } HAVING",
    f"SELECT * {{ SERVICE <{SECRET}> {{ ?s ?p ?o }} }}",
)

UPDATES: Final = (
    f"INSERT {{ GRAPH <{OPEN}> {{ ?s <{EX}seen> ?o }} }} WHERE {{ GRAPH <{SECRET}> {{ ?s ?p ?o }} }}",
    f"INSERT {{ GRAPH <{OPEN}> {{ <{EX}n> <{EX}count> ?n }} }} WHERE {{ SELECT (COUNT(*) AS ?n) {{ ?s ?p ?o }} }}",
    f"INSERT {{ GRAPH <{OPEN}> {{ ?g <{EX}seen> ?o }} }} WHERE {{ GRAPH ?g {{ ?s <{EX}knows> ?o }} }}",
    f"INSERT {{ GRAPH <{OPEN}> {{ ?s <{EX}seen> ?o }} }} USING <{SECRET}> WHERE {{ ?s ?p ?o }}",
    f"WITH <{SECRET}> INSERT {{ GRAPH <{OPEN}> {{ ?s <{EX}seen> ?o }} }} WHERE {{ ?s ?p ?o }}",
    f"WITH <{SECRET}> DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}",
    f"DELETE WHERE {{ <{EX}ada> <{EX}knows> ?o }}",
    f"DELETE DATA {{ GRAPH <{SECRET}> {{ <{EX}ada> <{EX}knows> <{EX}bob> }} }}",
    f"INSERT DATA {{ GRAPH <{SECRET}> {{ <{EX}ada> <{EX}knows> <{EX}bob> }} }}",
    f"CLEAR GRAPH <{SECRET}>",
    f"DROP SILENT GRAPH <{SECRET}>",
    f"CREATE GRAPH <{SECRET}>",
    f"COPY <{SECRET}> TO <{OPEN}>",
    f"ADD SILENT <{SECRET}> TO <{OPEN}>",
    f"MOVE <{SECRET}> TO <{OPEN}>",
    f"COPY <{OPEN}> TO <{SECRET}>",
    "CLEAR NAMED",
    f"INSERT DATA {{ GRAPH <{OPEN}> {{ <{EX}ada> <{EX}knows> <{EX}bob> , <{EX}again> }} }}",
    f"LOAD <{SECRET}> INTO GRAPH <{OPEN}>",
)

_CHANGES: Final = (
    request(change("ada", "knows", {"@value": "ada 1"}, graph=SECRET)),
    request(change("ada", "knows", "bob", "retract", graph=SECRET)),
    request(change("ada", "knows", {"@value": "1"}, "end", graph=OPEN)),
    request(change("ada", "knows", "bob", graph=OPEN), reason="again", episode="urn:episode:mine"),
    request(change("ada", "knows", "carl", graph=OPEN, validFrom="2029-01-01", validTo="2032-01-01")),
    request({"op": "revise", "fact": "{fact}", "object": {"@id": EX + "guessed"}}),
    request({"op": "retract", "fact": "{fact}"}),
    request({"op": "end", "fact": "{fact}", "at": "2026-01-01"}),
    request(change("ada", "knows", "bob", graph=HISTORY + quote(SECRET, safe=""))),
)

_FACTS: Final = (
    {"subject": EX + "ada"},
    {"subject": EX + "ada", "valid-at": "any"},
    {"object": EX + "ada"},
    {"object": '"text"', "valid-at": "any"},
    {"predicate": EX + "knows", "subject": EX + "ada", "as-of": "{now}"},
    {"object": EX + "ada", "as-of": "{now}", "valid-at": "any"},
    {"graph": SECRET},
    {"graph": OPEN, "valid-at": "any"},
    {"graph": SECRET, "subject": EX + "ada"},
    {"graph": HISTORY + quote(SECRET, safe="")},
)

_NAMED: Final = quote(SECRET, safe="")

_QUERY: Final = {"query": "SELECT * { ?s ?p ?o }", "owner": "me", "contact": "me", "graphs": [SECRET]}

ROUTES: Final[dict[str, tuple[Asked, ...]]] = {
    "change": (
        *(Asked("POST", "/changes", sent={"json": body}) for body in _CHANGES),
        *(Asked("POST", "/changes", {"dry-run": "true"}, {"json": body}) for body in _CHANGES),
        Asked("POST", "/changes", {"graph": SECRET}, {"content": "<urn:a> <urn:p> 1 ."}, TURTLE),
    ),
    "listCertificates": (
        Asked("GET", "/certificates"),
        Asked("GET", "/certificates", {"state": "pending"}),
        Asked("GET", "/certificates", {"verdict": "review", "limit": "1"}),
        Asked("GET", "/certificates", {"after": "{certificate}"}),
        Asked("GET", "/certificates", {"kind": "value"}),
    ),
    "getCertificate": (Asked("GET", "/certificates/{certificate}"), Asked("GET", "/certificates/{own}")),
    "getReport": (Asked("GET", "/certificates/{certificate}/report"), Asked("GET", "/certificates/{own}/report")),
    "decide": (Asked("POST", "/certificates/{certificate}/decision", sent={"json": {"decision": "approve"}}),),
    "revert": (Asked("POST", "/certificates/{certificate}/revert", {"dry-run": "true"}),),
    "listContradictions": (
        Asked("GET", "/contradictions"),
        Asked("GET", "/contradictions", {"kind": "value", "limit": "1"}),
        Asked("GET", "/contradictions", {"after": "{certificate}.0"}),
    ),
    "assignContradiction": tuple(
        Asked("PUT", f"/contradictions/{each}/0/owner", sent={"json": {"owner": "me"}})
        for each in ("{certificate}", "{own}")
    ),
    "explain": tuple(
        Asked("GET", "/explain", {"subject": EX + "ada", "predicate": EX + "knows", "entailment": "owl-rl", **asked})
        for asked in (
            {"object": EX + "bob"},
            {"object": f'"{MARKER} 1"'},
            {"object": f'"{MARKER} 1"', "graph": SECRET},
        )
    ),
    "listArguments": (
        Asked("GET", "/arguments", {"fact": "{fact}"}),
        Asked("GET", "/arguments", {"fact": EX + "ada"}),
        Asked("GET", "/arguments", {"subject": EX + "ada", "predicate": EX + "name", "object": '"Ada"'}),
    ),
    "whatIf": tuple(Asked("POST", "/what-if", sent={"json": each}) for each in _CHANGES),
    "listWhatIfs": (Asked("GET", "/what-if"),),
    "getWhatIf": (Asked("GET", "/what-if/{branch}"), Asked("GET", "/what-if/{mine}"), Asked("GET", "/what-if/none")),
    "queryWhatIf": (
        *(Asked("GET", "/what-if/{mine}/sparql", {"query": text}) for text in QUERIES),
        *(Asked("GET", "/what-if/{mine}/sparql", {"query": text, "valid-at": "2030-06-01"}) for text in QUERIES[:5]),
        Asked("GET", "/what-if/{mine}/sparql", {"query": QUERIES[0], "as-of": "{now}"}),
        Asked("GET", "/what-if/{branch}/sparql", {"query": QUERIES[0]}),
    ),
    "postQueryWhatIf": tuple(
        Asked("POST", f"/what-if/{which}/sparql", sent={"data": {"query": QUERIES[1]}})
        for which in ("{branch}", "{mine}")
    ),
    "addToWhatIf": tuple(
        Asked("POST", f"/what-if/{which}/plans", sent={"json": each})
        for which in ("{branch}", "{mine}")
        for each in _CHANGES
    ),
    "submitWhatIf": (Asked("POST", "/what-if/{branch}/submit"), Asked("POST", "/what-if/{mine}/submit")),
    "dropWhatIf": (Asked("DELETE", "/what-if/{branch}"), Asked("DELETE", "/what-if/{mine}")),
    "listQueries": (Asked("GET", "/queries"),),
    "getQuery": tuple(
        Asked("GET", f"/queries/{name}", params)
        for name in ("hidden", "everything", "none")
        for params in ({}, {"held-head": "none"})
    ),
    "putQuery": (Asked("PUT", "/queries/hidden", sent={"json": _QUERY}),),
    "putQueries": (Asked("POST", "/queries", sent={"json": {"queries": {"hidden": _QUERY}}}),),
    "deleteQuery": (Asked("DELETE", "/queries/hidden"), Asked("DELETE", "/queries/none")),
    "purge": tuple(
        Asked("POST", "/purges", sent={"json": {"preview": True, **target}})
        for target in ({"fact": "{fact}"}, {"node": EX + "ada"}, {"graph": SECRET}, {"episode": "urn:episode:mine"})
    ),
    "listHoldings": (Asked("GET", "/holdings", {"node": EX + "ada"}), Asked("GET", "/holdings", {"node": EX + "no"})),
    "listPurges": (Asked("GET", "/purges"),),
    "getPurge": (Asked("GET", "/purges/{certificate}"),),
    "decidePurge": (Asked("POST", "/purges/{certificate}/decision", sent={"json": {"decision": "approve"}}),),
    "restorePurged": (Asked("POST", "/purges/{certificate}/restore", sent={"json": {"reason": "why"}}),),
    "query": (
        *(Asked("GET", "/sparql", {"query": text}) for text in QUERIES),
        *(Asked("GET", "/sparql", {"query": text, "as-of": "{now}", "valid-at": "2030-06-01"}) for text in QUERIES[:9]),
        Asked("GET", "/sparql"),
        Asked("GET", "/sparql", {"query": QUERIES[0], "default-graph-uri": SECRET}),
        Asked("GET", "/sparql", {"query": QUERIES[1], "named-graph-uri": SECRET}),
        Asked("GET", "/sparql", {"query": QUERIES[1], "default-graph": "strict"}),
        *(Asked("GET", "/sparql", {"query": text, "entailment": "owl-rl"}) for text in QUERIES[:3]),
    ),
    "postQuery": tuple(Asked("POST", "/sparql", sent={"data": {"update": text}}) for text in UPDATES)
    + tuple(Asked("POST", "/sparql", {"dry-run": "true"}, {"data": {"update": text}}) for text in UPDATES[:6])
    + (
        Asked("POST", "/sparql", {"using-graph-uri": SECRET}, {"data": {"update": UPDATES[2]}}),
        Asked("POST", "/sparql", sent={"data": {"query": QUERIES[1]}}),
    ),
    "queryAsOf": tuple(Asked("GET", "/at/{now}/sparql", {"query": text}) for text in QUERIES[:6]),
    "postQueryAsOf": (Asked("POST", "/at/{now}/sparql", sent={"data": {"query": QUERIES[1]}}),),
    "queryAt": tuple(Asked("GET", "/at/{now}/2030-06-01/sparql", {"query": text}) for text in QUERIES[:6]),
    "postQueryAt": (Asked("POST", "/at/{now}/2030-06-01/sparql", sent={"data": {"query": QUERIES[1]}}),),
    "getGraph": tuple(
        Asked("GET", "/graphs", {"graph": graph})
        for graph in (SECRET, OPEN, HISTORY + _NAMED, f"{M}rules", f"{M}ontology")
    ),
    "putGraph": (Asked("PUT", "/graphs", {"graph": SECRET}, {"content": ""}, TURTLE),),
    "postGraph": (Asked("POST", "/graphs", {"graph": SECRET}, {"content": "<urn:a> <urn:p> 1 ."}, TURTLE),),
    "deleteGraph": (Asked("DELETE", "/graphs", {"graph": SECRET}), Asked("DELETE", "/graphs", {"graph": EX + "no"})),
    "getGraphByUrl": (Asked("GET", f"/graphs/{_NAMED}"),),
    "putGraphByUrl": (Asked("PUT", f"/graphs/{_NAMED}", {}, {"content": ""}, TURTLE),),
    "postGraphByUrl": (Asked("POST", f"/graphs/{_NAMED}", {}, {"content": ""}, TURTLE),),
    "deleteGraphByUrl": (Asked("DELETE", f"/graphs/{_NAMED}"),),
    "listFacts": tuple(Asked("GET", "/facts", wanted) for wanted in _FACTS),
    "listMementos": tuple(
        Asked("GET", "/timemap", {"of": of})
        for of in (f"/graphs?graph={_NAMED}", f"/facts?subject={EX}ada", f"/exports/{_NAMED}")
    ),
    "compareMoments": tuple(
        Asked("GET", "/diff", {"from": "2020-01-01", **wanted})
        for wanted in (
            {"graph": SECRET},
            {"graph": OPEN, "axis": "valid-at", "to": "2031-01-01"},
            {"node": EX + "ada"},
            {"node": EX + "ada", "graph": SECRET},
            {"node": EX + "ada", "axis": "valid-at", "as-of": "{now}"},
        )
    ),
    "exportGraph": tuple(
        Asked("GET", f"/exports/{quote(graph, safe='')}", params)
        for graph in (SECRET, OPEN, f"{M}rules")
        for params in ({}, {"annotations": "true"}, {"signed": "true"})
    ),
    "getKeys": (Asked("GET", "/keys"),),
    "rotateKey": (Asked("POST", "/keys/rotate"),),
    "revokeKey": (Asked("POST", "/keys/z6Mk/revoke", sent={"json": {"since": "2020-01-01T00:00:00Z"}}),),
    "getDid": (Asked("GET", "/.well-known/did.json"),),
    "getDidBelow": (Asked("GET", "/did.json"),),
    "getCheckpoint": (Asked("GET", "/log/checkpoint"),),
    "getLogEntries": (Asked("GET", "/log/tile/entries/000.p/4"),),
    "getLogTile": (Asked("GET", "/log/tile/0/000.p/4"),),
    "proveInclusion": (
        Asked("GET", "/log/proof/inclusion", {"position": "3"}),
        Asked("GET", "/log/proof/inclusion", {"certificate": "{certificate}"}),
    ),
    "proveConsistency": (Asked("GET", "/log/proof/consistency", {"from": "3"}),),
    "health": (Asked("GET", "/health"),),
    "metrics": (Asked("GET", "/metrics"),),
}

PAGES: Final = (
    *("/", "/queue", "/queue?state=any", f"/queue?state=any&graph={_NAMED}", "/queue/{certificate}", "/queue/{own}"),
    *("/queue/{certificate}/findings", "/queue/{certificate}/revert", "/query", f"/node?iri={quote(EX)}ada"),
    *(f"/query?query={quote(text)}" for text in QUERIES[:4]),
    *("/branches", "/standing", "/standing?kind=value", "/queue?state=any&kind=value"),
    *(f"/node?iri={_NAMED}", f"/node?iri={quote(EX)}ada&valid-at=2030-06-01", "/queue/{own}/findings"),
    *(f"/node/timeline?iri={quote(EX)}ada", f"/node/timeline?iri={_NAMED}", f"/compare?graph={_NAMED}&from=2020-01-01"),
    *(f"/compare?node={quote(EX)}ada&axis=valid-at&from=2000&to={to}" for to in ("2020", "2031")),
)


# --- what comes -------------------------------------------------------------------------------------------------------

_SAME: Final = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\d\d:\d\d:\d\d(\.\d+)?"), "TIME"),
    (re.compile(r"\d+ (microsecond|second|minute|hour)s?"), "AGE"),
    (re.compile(r"[A-Za-z0-9+/_=-]{22,}"), "LONG"),
    (re.compile(r"(reader|writer|editor|administrator)-[A-Za-z0-9_-]+"), "NAME"),
    (re.compile(r"127\.0\.0\.1(:|%3A)\d+"), "HOST"),
)

_VARYING: Final = frozenset({"date", "content-length", "etag", "x-request-id", "muniment-valid-at", "set-cookie"})


def told(answer: httpx2.Response) -> str:
    """An answer without what differs between any two bases."""
    headers = sorted((name, value) for name, value in answer.headers.items() if name not in _VARYING)
    kind = answer.headers.get("content-type", "")
    if "json" in kind:
        body = repr(in_order(json.loads(same(answer.text))))
    elif kind.startswith("application/octet-stream"):
        body = f"{len(answer.content)} bytes"
    else:
        body = " ".join(sorted(re.split(r"[\s<>]+", same(answer.text))))
    return same(f"{answer.status_code}\n{headers}\n{body}")


def same(text: str) -> str:
    for pattern, name in _SAME:
        text = pattern.sub(name, text)
    return text


def in_order(value: JsonValue) -> JsonValue:
    """JSON with its lists sorted: solutions and triples come in any order."""
    if isinstance(value, dict):
        return {name: in_order(each) for name, each in sorted(value.items())}
    return sorted(map(in_order, value), key=repr) if isinstance(value, list) else value


@dataclass(slots=True)
class Caller:
    """Somebody who may read graph 1 only, in one of the worlds."""

    world: World
    client: httpx2.Client
    now: str
    own: str
    mine: str

    @classmethod
    def of(cls, world: World, role: Role) -> Caller:
        client = world.server.client(role, OPEN)
        own = client.get("/certificates").json()["items"][-1]["certificate"].removeprefix("urn:uuid:")
        head = client.get("/sparql", params={"query": "ASK {}"}).headers["muniment-head"]
        held = client.post("/what-if", json=request(change("ada", "knows", "fay", graph=OPEN), reason="mine"))
        assert held.status_code == (201 if role >= Role.WRITER else 403)
        return cls(world, client, f"head:{head}", own, held.json().get("branch", "none"))

    def browser(self) -> httpx2.Client:
        """A browser in which the caller is signed in."""
        token = self.client.headers["authorization"].removeprefix("Bearer ")
        server = self.world.server
        cookies = {"muniment-session": server.sessions.begin(token_hash(token))}
        return httpx2.Client(base_url=server.url, cookies=cookies, trust_env=False, verify=False, timeout=60)

    def ask(self, asked: Asked, accept: str, number: int) -> httpx2.Response:
        """Asks it, with ids of this world."""
        world = self.world
        wanted = json.dumps((asked.path, asked.params, asked.sent))
        for name, identifier in {
            "{certificate}": world.certificates[number % len(world.certificates)],
            "{fact}": world.facts[number % len(world.facts)],
            "{own}": self.own,
            "{branch}": world.branch,
            "{mine}": self.mine,
            "{now}": self.now,
        }.items():
            wanted = wanted.replace(name, identifier)
        path, params, sent = json.loads(wanted)
        headers = {"Accept": accept, **ONE_ID, **asked.headers}
        return self.client.request(asked.method, path, params=params, headers=headers, **sent)


Callers: TypeAlias = dict[Role, tuple[Caller, Caller]]


@pytest.fixture(scope="module")
def callers(worlds: tuple[World, World]) -> Callers:
    """A reader and an editor in each world."""
    return {role: (Caller.of(worlds[0], role), Caller.of(worlds[1], role)) for role in (Role.READER, Role.EDITOR)}


def test_every_route_is_asked(worlds: tuple[World, World]) -> None:
    documented = worlds[0].server.documented.document["paths"].values()
    operations = {operation["operationId"] for path in documented for operation in path.values()}
    assert operations <= ROUTES.keys(), "a route that is not asked here"


def test_no_page_tells_of_what_its_visitor_may_not_read(callers: Callers, worlds: tuple[World, World]) -> None:
    """Before the routes are asked: of what updates do at once, pages show some first, in the order of their ids.

    An editor's pages show all that a reader's do.
    """

    def looked(browser: httpx2.Client, caller: Caller, path: str, number: int) -> httpx2.Response:
        path = path.replace("{own}", caller.own)
        path = path.replace("{certificate}", caller.world.certificates[number % len(caller.world.certificates)])
        return browser.get(path, headers={"Accept": "text/html", **ONE_ID}, follow_redirects=True)

    with ExitStack() as stack:
        pair = [(stack.enter_context(caller.browser()), caller) for caller in callers[Role.EDITOR]]
        for number, path in enumerate(PAGES):
            with_it, without = (looked(*each, path, number) for each in pair)
            hides(with_it)
            assert told(with_it) == told(without), path


@pytest.mark.parametrize("operation", ROUTES)
def test_no_route_tells_of_what_its_caller_may_not_read(callers: Callers, operation: str) -> None:
    """What is read is the same for all roles but administrators'; writes are refused to readers in another place."""
    for number, asked in enumerate(ROUTES[operation]):
        reads = asked.method == "GET"
        for role in (Role.EDITOR,) if reads else (Role.READER, Role.EDITOR):
            for accept in _ACCEPTS if reads else ("application/json",):
                with_it, without = (caller.ask(asked, accept, number) for caller in callers[role])
                hides(with_it)
                assert told(with_it) == told(without), (asked, role, accept)


def test_the_secret_is_there(worlds: tuple[World, World]) -> None:
    """Whoever may read it does: else nothing above could fail."""
    everything = worlds[0].server.client(Role.ADMINISTRATOR)
    for path in (f"/facts?subject={EX}ada", f"/exports/{_NAMED}", f"/sparql?query={quote(QUERIES[0])}"):
        assert MARKER in everything.get(path).text
    assert MARKER in everything.get(f"/certificates/{worlds[0].certificates[0]}").text


def hides(answer: httpx2.Response) -> None:
    """Fails where anything of the secret is told."""
    assert MARKER not in answer.text
    assert not any(MARKER in value for value in answer.headers.values())
