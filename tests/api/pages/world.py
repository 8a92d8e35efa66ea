"""A small base for tests of the pages: who held an office, with changes of every kind that wait, and visitors.

Example
-------
::

    world = World.filled(server)
    browser = world.signed_in(Role.EDITOR)
    browser.get(world.path("successor"))
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Final, Self
from uuid import UUID

import httpx2

from api.callers.auth import token_hash
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, SHAPES, M, change, request
from tests.api.serving import Served, served

RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
TURTLE: Final = {"content-type": "text/turtle"}

ONTOLOGY: Final = f"""
@prefix ex: <{EX}> . @prefix rdfs: <{RDFS}> .
ex:heldBy rdfs:label "held by"@en . ex:bornIn rdfs:label "born in"@en . ex:Office rdfs:label "office"@en .
ex:Person rdfs:label "person"@en .
"""
RULE: Final = (
    f"<{EX}one-holder> a <{M}SingleValuedBySubject> ; <{M}predicate> <{EX}heldBy> ; <{M}propose> <{M}EndOlder> ."
)
NAMES: Final = f"""
@prefix ex: <{EX}> . @prefix rdfs: <{RDFS}> .
ex:chancellor a ex:Office ; rdfs:label "Chancellor of Germany"@en .
ex:consul a ex:Office ; rdfs:label "Roman consul"@en .
ex:kohl a ex:Person ; rdfs:label "Helmut Kohl" .
ex:schroeder a ex:Person ; rdfs:label "Gerhard Schröder"@de .
ex:merkel a ex:Person ; rdfs:label "Angela Merkel"@en , "Merkel, Angela"@la .
ex:scholz a ex:Person ; rdfs:label "Olaf Scholz"@en .
ex:caesar a ex:Person ; rdfs:label "Julius Caesar"@en .
ex:hamburg rdfs:label "Hamburg"@en .
<{EX}register> rdfs:label "Federal Law Gazette"@en .
"""


def term_of(who: str, start: str | None, end: str | None, office: str = "chancellor", **more: object) -> dict[str, Any]:
    """A change that somebody held an office."""
    times = {name: value for name, value in (("validFrom", start), ("validTo", end)) if value is not None}
    return change(office, "heldBy", who) | times | more


@dataclass(slots=True)
class World:
    """A served base with something in it."""

    server: Served
    certificates: dict[str, UUID] = field(default_factory=dict)

    @classmethod
    def filled(cls, server: Served) -> Self:
        """Fills an empty base."""
        world = cls(server)
        administrator = server.client(Role.ADMINISTRATOR)
        for graph, text in (("ontology", ONTOLOGY), ("rules", RULE), ("shapes", SHAPES)):
            world.post(administrator, text, graph=M + graph)
        writer = server.writer
        world.post(writer, NAMES)
        world.ask(
            "held",
            term_of("kohl", "1982-10-01", "1998-10-27"),
            term_of("schroeder", "1998-10-27", "2005-11-22"),
            term_of("merkel", "2005-11-22", None),
            term_of("caesar", "-0058", "-0057", office="consul"),
            reason="what the register has",
            episode=EX + "register",
        )
        world.ask("correct", {"op": "revise", "fact": world.fact("kohl"), "validFrom": "1982-10", "confidence": 0.4})
        world.ask(
            "doubt",
            change("merkel", "bornIn", "hamburg", validFrom="1954-07-17", confidence=0.3),
            reason="heard on the radio",
            episode="https://radio.example/1954",
        )
        world.ask(
            "successor",
            term_of("scholz", "2021-12-08", None),
            reason="the Bundestag has elected a new chancellor",
            episode=EX + "register",
        )
        return world

    def post(self, client: httpx2.Client, text: str, **parameters: str) -> None:
        """Asserts a document, which has to be clear."""
        answer = client.post("/changes", params=parameters, content=text, headers=TURTLE)
        assert answer.status_code == 201, answer.text

    def ask(self, name: str, *changes: dict[str, Any], **more: object) -> UUID:
        """Asks for changes, and keeps the certificate under a name."""
        answer = self.server.writer.post("/changes", json=request(*changes, **more))
        assert answer.status_code in (201, 202, 422), answer.text
        self.certificates[name] = UUID(answer.json()["certificate"])
        return self.certificates[name]

    def fact(self, holder: str) -> str:
        """The id of the fact that somebody holds the office."""
        found = self.server.writer.get("/facts", params={"object": EX + holder, "valid-at": "any"}).json()["items"]
        identifier: str = next(each["fact"] for each in found if "heldBy" in each["statement"]["predicate"]["@id"])
        return identifier

    def path(self, name: str) -> str:
        """The page of a certificate."""
        return f"/queue/{self.certificates[name]}"

    def code(self, role: Role, *graphs: str) -> str:
        """A one-time code for a new principal."""
        code: str = self.server.sessions.issue_code(token_hash(self.server.token(role, *graphs)))
        return code

    def visitor(self) -> httpx2.Client:
        """A browser's client that is not signed in."""
        return self.server.enter(
            httpx2.Client(
                base_url=self.server.url,
                headers={"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"},
                timeout=60,
                trust_env=False,
                verify=False,
            )
        )

    def signed_in(self, role: Role, *graphs: str) -> httpx2.Client:
        """One that is."""
        client = self.visitor()
        form = Page.of(client.get("/sign-in")).forms[-1]
        answer = client.post("/sign-in", data={**form, "token": self.server.token(role, *graphs)})
        assert (answer.status_code, answer.headers["location"]) == (303, "/queue"), answer.text
        return client


@contextmanager
def a_world() -> Iterator[World]:
    """A filled base in memory, served."""
    with Base.open(None) as base, served(base) as server:
        yield World.filled(server)


class Page(HTMLParser):
    """What a test looks for in a page: its text, its links, its forms' fields, its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.links: dict[str, str] = {}
        self.forms: list[dict[str, str]] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._link: str | None = None

    @classmethod
    def of(cls, answer: httpx2.Response) -> Self:
        """A page that was answered."""
        assert answer.headers["content-type"] == "text/html; charset=utf-8", answer.text
        page = cls()
        page.feed(answer.text)
        page.text = re.sub(r"\s+", " ", page.text)
        return page

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Keeps a tag."""
        given = {name: value or "" for name, value in attributes}
        self.tags.append((tag, given))
        if tag == "form":
            self.forms.append({})
        elif tag == "input" and "name" in given and self.forms:
            self.forms[-1][given["name"]] = given.get("value", "")
        elif tag == "a":
            self._link = given.get("href")

    def handle_data(self, data: str) -> None:
        """Keeps text."""
        self.text += data
        if self._link is not None:
            self.links.setdefault(data.strip(), self._link)

    def handle_endtag(self, tag: str) -> None:
        """Ends a link."""
        if tag == "a":
            self._link = None
