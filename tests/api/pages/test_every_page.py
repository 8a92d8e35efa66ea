"""What holds for every page: headers, nothing inline, links that lead nowhere else, HEAD, errors in the same design."""

import re
from typing import Final
from urllib.parse import quote

import httpx2
import pytest

from api.pages import node as node_page
from kernel.access import Role
from tests.api.bodies import EX, change
from tests.api.pages.world import RDFS, Page, World

HOSTILE: Final = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}"
TURNED: Final = "abc\u202etxt.exe\u2066"
HIDDEN: Final = "\u202e\u2066"
PATHS: Final = (
    "/queue",
    "/queue?state=any&order=oldest",
    "/queue?state=stale",
    "held",
    "held/findings",
    "held/findings?cause=1",
    "correct",
    "doubt",
    "successor",
    "held/revert",
    "doubt/revert",
    f"/node?iri={quote(EX + 'chancellor')}",
    f"/node?iri={quote(EX + 'merkel')}&valid-at=1990&as-of=head:9",
    "/node?iri=urn:nothing",
    "/proof",
    f"/proof?subject={quote(EX + 'merkel')}&predicate=urn:none&object=urn:none&entailment=rdfs",
    "/query",
    f"/query?query={quote('SELECT * { ?s ?p ?o }')}",
    "/query?query=ASK%20%7B%7D",
    "/query?query=nonsense",
    "/registered",
    "/branches",
    "/branches/none",
    "/standing",
    "/standing?kind=value&owner=ada",
    "/purging",
    "/queue/nothing",
    "/sign-in?code=none",
    "/nothing",
)


@pytest.fixture(scope="module")
def reader(still: World) -> httpx2.Client:
    return still.signed_in(Role.EDITOR)


def path_of(world: World, path: str) -> str:
    name, slash, rest = path.partition("/")
    return f"{world.path(name)}{slash}{rest}" if name else path


@pytest.mark.parametrize("path", PATHS)
def test_headers_keep_a_page_to_itself(still: World, reader: httpx2.Client, path: str) -> None:
    headers = reader.get(path_of(still, path)).headers
    policy = {each.strip() for each in headers["content-security-policy"].split(";")}
    assert {"default-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"} <= policy
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert headers["x-request-id"]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_inline_and_every_form_carries_the_sessions_token(
    still: World, reader: httpx2.Client, path: str
) -> None:
    page = Page.of(reader.get(path_of(still, path)))
    for tag, attributes in page.tags:
        assert tag not in ("script", "style", "iframe", "object", "embed", "base")
        assert not [name for name in attributes if name == "style" or name.startswith("on")]
    posting = [given for tag, given in page.tags if tag == "form" and given["method"] == "post"]
    carrying = [form for form in page.forms if "forgery-token" in form]
    assert len(posting) == len(carrying)
    assert all(form["forgery-token"] for form in carrying)


@pytest.mark.parametrize("path", PATHS)
def test_links_lead_to_pages_or_out_without_telling_who_looks(still: World, reader: httpx2.Client, path: str) -> None:
    for tag, given in Page.of(reader.get(path_of(still, path))).tags:
        if tag in ("a", "link", "img", "form"):
            target = given.get("href") or given.get("src") or given["action"]
            if not target.startswith(("/", "#")):
                assert re.match("https?://", target), target
                assert {"noreferrer", "noopener"} <= set(given["rel"].split())


@pytest.mark.parametrize("path", PATHS)
def test_whatever_can_be_got_has_a_head(still: World, reader: httpx2.Client, path: str) -> None:
    got, head = reader.get(path_of(still, path)), reader.head(path_of(still, path))
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers["content-type"] == got.headers["content-type"]


def test_assets_are_kept_under_a_name_that_changes_with_them(still: World) -> None:
    page = Page.of(still.visitor().get("/sign-in"))
    sheet = next(given["href"] for tag, given in page.tags if given.get("rel") == "stylesheet")
    answer = still.visitor().get(sheet)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert "immutable" in answer.headers["cache-control"]
    assert still.visitor().get(re.sub("[0-9a-f]{16}", "0" * 16, sheet)).status_code == 404
    assert still.visitor().get(sheet.replace("muniment.css", "..%2f__init__.py")).status_code == 404


# --- what others wrote ------------------------------------------------------------------------------------------------


def test_what_others_wrote_is_text_and_keeps_its_direction_to_itself(world: World) -> None:
    named = {"predicate": {"@id": RDFS + "label"}}
    identifier = world.ask(
        "hostile",
        change("mallory", "label", {"@value": HOSTILE}, confidence=0.1) | named,
        change("trudy", "label", {"@value": TURNED}) | named,
        {
            "op": "assert",
            "subject": {"@id": EX + "s"},
            "predicate": {"@id": EX + "p"},
            "object": {"@id": "javascript:alert(1)"},
        },
        reason=HOSTILE,
        episode="javascript:alert(2)",
    )
    client = world.signed_in(Role.EDITOR)
    form = Page.of(client.get(f"/queue/{identifier}")).forms[-1]
    seen = [client.get("/queue"), client.get(f"/queue/{identifier}")]
    answer = client.post(f"/queue/{identifier}/decision", data={**form, "decision": "approve", "comment": HOSTILE})
    assert answer.status_code == 303
    seen += [
        client.get(f"/queue/{identifier}"),
        client.get("/queue?state=any"),
        client.get(f"/node?iri={quote(EX + 'mallory')}"),
        client.get(f"/node?iri={quote(EX + 's')}"),
        client.get("/node?iri=javascript:alert(1)"),
        client.get("/query", params={"query": "SELECT * { ?s ?p ?o }"}),
        client.get("/query", params={"query": HOSTILE}),
        client.get("/queue", params={"state": HOSTILE}),
        client.get(f"/queue/{quote(HOSTILE, safe='')}"),
    ]
    for each in seen:
        page = Page.of(each)
        assert "<script" not in each.text
        assert "<img src=x" not in each.text
        for tag, given in page.tags:
            assert tag != "script"
            assert not any("javascript:" in given.get(name, "").lower()[:11] for name in ("href", "src", "action"))
    assert HOSTILE in Page.of(seen[1]).text
    for each in seen:
        assert not set(TURNED) & set(HIDDEN) & set(each.text), "what is hidden is written out, wherever it stands"
    for each in (seen[1], seen[2], seen[7]):
        assert "abc<span" in each.text
        assert 'title="U+202E RIGHT-TO-LEFT OVERRIDE">U+202E</span>txt.exe' in each.text
        for place in re.finditer("abc<span", each.text):
            around = each.text[: place.start()]
            assert "<bdi" in around[around.rfind("<") :], around[-80:]


def test_what_a_form_holds_is_exact(still: World) -> None:
    """Hidden characters stay in what is sent back: else the query asked next would be another."""
    query = f"SELECT * {{ ?s ?p '{TURNED}' }}"
    client = still.signed_in(Role.READER)
    answer = client.get("/query", params={"query": query, "valid-at": "2020"})
    assert f"'{TURNED}'".replace("'", "&#39;") in answer.text.partition("<textarea")[2].partition("</textarea>")[0]


# --- what is long -----------------------------------------------------------------------------------------------------


def test_long_texts_are_cut_in_lists_and_headings_and_whole_somewhere(world: World) -> None:
    long, why, who = "word " * 500 + "end-of-label", "because " * 300 + "end-of-reason", "x" * 2000 + "end-of-iri"
    named = {"predicate": {"@id": RDFS + "label"}}
    identifier = world.ask(
        "long",
        change(who, "label", {"@value": long}, confidence=0.1) | named,
        reason=why,
    )
    client = world.signed_in(Role.EDITOR)
    queue, certificate = client.get("/queue"), client.get(f"/queue/{identifier}")
    for end in ("end-of-label", "end-of-reason"):
        assert end not in Page.of(queue).text
        assert Page.of(certificate).text.count(end) >= 1
    for answer, tag in ((queue, "h2"), (certificate, "h1")):
        heading = re.sub("<[^>]*>", "", re.findall(rf"<{tag}>.*?</{tag}>", answer.text, re.DOTALL)[0])
        assert "word word…" in heading
        assert len(" ".join(heading.split())) < 300
    node = client.get("/node", params={"iri": EX + who})
    assert "end-of-iri" in Page.of(node).text.partition("What is said")[0]
    assert len(re.findall(r"<h1>.*?</h1>", node.text, re.DOTALL)[0]) < 400


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/queue?nonsense=1", 400),
        ("GET", "/queue?state=applied&state=stale", 400),
        ("GET", "/node", 400),
        ("GET", "/node?iri=no%20iri", 400),
        ("GET", "/queue/nothing", 404),
        ("GET", "/nothing", 404),
        ("POST", "/queue", 405),
        ("DELETE", "/sign-in", 405),
    ],
)
def test_browsers_get_errors_as_pages(reader: httpx2.Client, method: str, path: str, status: int) -> None:
    answer = reader.request(method, path)
    page = Page.of(answer)
    assert answer.status_code == status
    assert f"Error {status}" in page.text
    assert "What to do" in page.text
    if status == 405:
        assert "GET" in answer.headers["allow"]


@pytest.mark.parametrize(
    ("path", "said", "not_said"),
    [
        ("/queue?from=%ff", "not in UTF-8", "codec"),
        ("/queue?" + "from=1&" * 1_001, "more than 1,000", "fields"),
        ("/node?iri=urn:a&as-of=head:last", "a certificate that was applied", "Muniment-Head"),
        ("/node?iri=urn:a&out-after=x", "go back to the start of the list", "`next`"),
        ("/queue?after=x", "go back to the start of the list", "`next`"),
        ("/query?query=ASK%7B%7D&format=turtle", "take CSV or JSON of a table", "application/"),
        ("/query?query=ASK%7B%7D&format=pdf", "CSV, JSON, Turtle, JSON-LD", "jsonld"),
        ("/query?query=INSERT%20DATA%20%7B%7D", "a page only reads", "application/"),
        ("/query?query=SELECT%20*%20%7B%7D&as-of=head:0", "a certificate", "Muniment-Head"),
        ("/queue/nothing", "look for it in the queue", "GET /"),
        ("/node?iri=urn:a&valid-at=2020-01-01T00:00:00%2001:00", "with a plus before the zone", "%2B"),
        ("/queue?nonsense=1", "links and forms", "did you mean"),
    ],
)
def test_what_to_do_is_said_in_words_of_pages(reader: httpx2.Client, path: str, said: str, not_said: str) -> None:
    answer = reader.get(path)
    text = Page.of(answer).text
    assert answer.status_code in (400, 404)
    assert said.lower() in text.lower()
    assert not_said not in text.partition("What to do")[0].rpartition("Sign out")[2] + text.partition("What to do")[2]


def test_too_much_written_is_said_in_words_of_pages(reader: httpx2.Client) -> None:
    answer = reader.post("/query", data={"query": "x" * 300_000})
    assert answer.status_code == 413
    assert "Shorten what you wrote" in Page.of(answer).text
    assert "muniment load" not in answer.text


def test_the_json_api_answers_browsers_with_problem_documents_too(still: World, reader: httpx2.Client) -> None:
    for path in ("/sparql", "/facts", "/certificates", "/certificates/nothing", "/openapi.json?x=1"):
        answer = reader.get(path)
        assert answer.headers["content-type"] == "application/problem+json", path
    assert still.server.client(None).get("/nothing").headers["content-type"] == "application/problem+json"
    only_json = {"accept": "application/json"}
    assert reader.get("/queue/nothing", headers=only_json).headers["content-type"] == "application/problem+json"


def test_a_form_of_somebody_who_is_not_signed_in_gets_a_page(still: World) -> None:
    answer = still.visitor().post(f"{still.path('doubt')}/decision", data={"decision": "approve"})
    assert answer.status_code == 401
    assert "You are not signed in, or no longer: nothing was sent on." in Page.of(answer).text


def test_a_defect_shows_nothing_of_the_inside(still: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret path /etc/passwd")

    monkeypatch.setattr(node_page, "timeline", broken)
    answer = still.signed_in(Role.READER).get(
        f"/node?iri={quote(EX + 'merkel')}", headers={"x-request-id": "the-one-that-failed"}
    )
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert "the-one-that-failed" in Page.of(answer).text
