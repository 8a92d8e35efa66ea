"""Visits with a browser: what every one of them watches, and what axe says of a page.

Example
-------
::

    with visiting(chromium, world) as visit:
        visit.sign_in(Role.EDITOR)
        visit.page.get_by_role("link", name="Query").click()
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import quote

from playwright.sync_api import Browser, ConsoleMessage, Page

from api.pages.samples import SAMPLES
from kernel.access import Role
from kernel.terms import RDF
from tests.api.bodies import EX, change
from tests.api.pages.world import RDFS, World

Scheme = Literal["light", "dark"]

HOLDERS: Final = f"SELECT ?who WHERE {{ <{EX}chancellor> <{EX}heldBy> ?who }}"
RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

_JUDGE: Final = """
    runOnly => axe.run(document, {runOnly, resultTypes: ['violations'], preload: false}).then(
        found => found.violations.map(each => each.id + ': ' + each.help
            + each.nodes.map(node => '\\n' + node.html + '\\n' + node.failureSummary)))
"""
_ALL: Final = {"type": "tag", "values": RULES}
_OF_COLOURS: Final = {"type": "rule", "values": ["color-contrast"]}


@dataclass
class Visit:
    """A browser's visit.

    Attributes:
        violations: what the browser said of the content security policy.
    """

    page: Page
    world: World
    violations: list[str] = field(default_factory=list)

    def watch(self, message: ConsoleMessage) -> None:
        """Keeps what the browser says of the policy."""
        if "Content Security Policy" in message.text or "Content-Security-Policy" in message.text:
            self.violations.append(message.text)

    def sign_in(self, role: Role) -> None:
        """Signs in by a link, as `make demo` prints it."""
        self.page.goto(f"/sign-in?code={self.world.code(role)}")
        self.page.get_by_role("button", name="Sign in as").click()
        self.page.wait_for_url("**/queue")

    def faults(self, axe: str) -> list[str]:
        """What axe finds on the page as it is, each with the places."""
        self.page.evaluate(axe)
        return list(self.page.evaluate(_JUDGE, _ALL))

    def faults_in(self, scheme: Scheme) -> list[str]:
        """What it finds in other colours, on a page that it has judged: nothing else is different there."""
        self.page.emulate_media(color_scheme=scheme)
        return list(self.page.evaluate(_JUDGE, _OF_COLOURS))

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@contextmanager
def visiting(
    chromium: Browser, world: World, *, width: int = 1280, scheme: Scheme = "light", scripts: bool = True
) -> Iterator[Visit]:
    """A visit that ends with the context; the policy must not have been broken by then."""
    context = chromium.new_context(
        base_url=world.server.url,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        java_script_enabled=scripts,
    )
    context.set_default_timeout(15_000)
    page = context.new_page()
    visit = Visit(page, world)
    page.on("console", visit.watch)
    try:
        yield visit
        assert visit.violations == []
    finally:
        context.close()


def ask_what_deceives(world: World) -> None:
    """Asks for changes with texts that are very long, very short, or hold what turns the direction of writing."""
    label = {"predicate": {"@id": RDFS + "label"}}
    world.ask(
        "hostile",
        change("trick", "label", {"@value": "invoice\u202efdp.exe pay\u200bpal"}, confidence=0.2) | label,
        change("long" + "x" * 900, "label", {"@value": "A name of many names " * 90}, confidence=0.2) | label,
        change("arabic", "label", {"@value": "\u062c\u0645\u0647\u0648\u0631\u064a\u0629"}, confidence=0.2) | label,
        reason="because \u202egnihtemos " + "and because of more " * 60,
        episode=EX + "l",
    )


def pages_of(world: World) -> dict[str, str]:
    """The pages that somebody who is signed in can look at, by name."""
    return {
        "queue": "/queue",
        "queue-filtered": "/queue?state=any&order=oldest",
        "queue-empty": "/queue?state=stale",
        "standing": "/standing",
        "certificate-contradiction": world.path("successor"),
        "certificate-doubt": world.path("doubt"),
        "certificate-correction": world.path("correct"),
        "certificate-applied": world.path("held"),
        "certificate-hostile": world.path("hostile"),
        "undoing": f"{world.path('held')}/revert",
        "undoing-in-vain": f"{world.path('doubt')}/revert",
        "findings": f"{world.path('successor')}/findings?cause=1",
        "findings-causes": f"{world.path('successor')}/findings",
        "node": f"/node?iri={quote(EX + 'chancellor', safe='')}",
        "node-past": f"/node?iri={quote(EX + 'merkel', safe='')}&valid-at=1990",
        "proof": f"/proof?subject={quote(EX + 'merkel', safe='')}&predicate={quote(RDF + 'type', safe='')}"
        f"&object={quote(EX + 'Person', safe='')}&entailment=owl-rl",
        "query": "/query",
        "query-answer": f"/query?query={quote(HOLDERS)}&valid-at=2000",
        "query-table": f"/query?query={quote(SAMPLES[2].text)}",
        "query-mistake": f"/query?query={quote(HOLDERS.replace('}', ''))}",
        "query-yes": "/query?query=ASK%20%7B%20%3Fs%20%3Fp%20%3Fo%20%7D",
        "error": "/queue/nothing",
    }
