"""Who gets in, how long they stay, and who cannot send forms in their name."""

import posixpath
from urllib.parse import unquote, urlsplit

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.callers.auth import token_hash
from api.callers.sessions import FAILURES, IDLE, LONGEST, WINDOW, Sessions
from api.pages.sign_in import _is_ours
from kernel.access import Principal, Role
from tests.api.callers.test_auth import OPEN_PATHS
from tests.api.pages.world import Page, World

SESSION = "muniment-session"


def signing_in(client: httpx2.Client, path: str = "/sign-in", **fields: str) -> httpx2.Response:
    """Fills the sign-in form in, and sends it."""
    return client.post("/sign-in", data={**Page.of(client.get(path)).forms[-1], **fields})


# --- by token ---------------------------------------------------------------------------------------------------------


def test_who_is_not_signed_in_is_led_to_the_form_and_back(still: World) -> None:
    client = still.visitor()
    assert client.get("/").headers["location"] == "/sign-in"
    wanted = "/queue?state=any&order=oldest"
    led = client.get(wanted)
    assert led.status_code == 303
    answer = signing_in(client, led.headers["location"], token=still.server.token(Role.READER))
    assert (answer.status_code, answer.headers["location"]) == (303, wanted)
    assert client.get(wanted).status_code == 200
    assert client.get("/").headers["location"] == "/queue"
    assert client.get("/sign-in").headers["location"] == "/queue"


def test_the_cookie_is_for_this_site_alone_and_no_script_reads_it(still: World) -> None:
    answer = signing_in(still.visitor(), token=still.server.token(Role.READER))
    cookie = next(each for each in answer.headers.get_list("set-cookie") if each.startswith(f"{SESSION}="))
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= parts
    assert "secure" not in parts, "by http a browser would not send it back"
    assert len(cookie.partition(";")[0]) > len(SESSION) + 40


def test_behind_https_the_cookie_is_bound_to_the_host(still: World) -> None:
    client = still.visitor()
    form = Page.of(client.get("/sign-in")).forms[-1]
    origin = f"https://{urlsplit(still.server.url).netloc}"
    answer = client.post(
        "/sign-in", data={**form, "token": still.server.token(Role.READER)}, headers={"origin": origin}
    )
    cookie = next(each for each in answer.headers.get_list("set-cookie") if "session" in each.partition("=")[0])
    assert cookie.startswith("__Host-muniment-session=")
    assert "secure" in cookie.lower()


@pytest.mark.parametrize("token", ["nonsense", "a b", "é", "<script>"])
def test_a_wrong_token_gets_a_page_that_does_not_repeat_it(world: World, token: str) -> None:
    client = world.visitor()
    answer = signing_in(client, token=token)
    assert answer.status_code == 401
    assert "unknown, expired or revoked" in Page.of(answer).text
    assert token not in answer.text
    assert SESSION not in client.cookies


def test_a_revoked_token_ends_the_session(world: World) -> None:
    world.server.base.ledger.add_principal(Principal("leaver", Role.EDITOR), token_hash("leaving"))
    client = world.visitor()
    signing_in(client, token="leaving")
    assert client.get("/queue").status_code == 200
    world.server.base.ledger.revoke("leaver")
    assert client.get("/queue").headers["location"].startswith("/sign-in")


def test_signing_out_ends_the_session_also_for_whoever_kept_the_cookie(still: World) -> None:
    client = still.signed_in(Role.READER)
    kept = dict(client.cookies)
    form = Page.of(client.get("/queue")).forms[0]
    assert client.post("/sign-out", data=form).headers["location"] == "/sign-in"
    other = still.visitor()
    other.cookies.update(kept)
    assert other.get("/queue").status_code == 303


def test_each_signing_in_begins_a_session_of_its_own(still: World) -> None:
    token, client = still.server.token(Role.READER), still.visitor()
    client.cookies.set(SESSION, "chosen-by-somebody-else")
    signing_in(client, token=token)
    assert client.cookies.get(SESSION, domain=urlsplit(still.server.url).hostname) != "chosen-by-somebody-else"


def test_no_route_of_the_json_api_takes_the_cookie(still: World) -> None:
    client = still.signed_in(Role.ADMINISTRATOR)
    for template, operations in still.server.documented.document["paths"].items():
        path = template.replace("{certificate}", str(still.certificates["held"])).replace("{graph}", "urn:g")
        for method in operations:
            if path not in OPEN_PATHS:
                assert client.request(method, path).status_code == 401, path


def test_what_follows_is_a_page_of_ours_or_the_queue(still: World) -> None:
    for elsewhere in (
        "https://evil.example/", "//evil.example/queue", "/\\evil.example", "/sparql", "javascript:x",
        "/queue/../sparql", "/queue/./x", "/queue/%2e%2e/sparql", "/queue//x", "/queue/..", "/node/x", "/query/../x",
        "/queue/x\\y", "/queue?x=\\y", "/queue#x", "/queueing", "/sign-out",
    ):  # fmt: skip
        client = still.visitor()
        answer = signing_in(client, token=still.server.token(Role.READER), next=elsewhere)
        assert answer.headers["location"] == "/queue"


@given(st.one_of(st.text(), st.text("/\\:.?@ \t\nqueue%2e#")))
def test_no_text_leads_to_another_host_or_path(text: str) -> None:
    for path in (text, f"/{text}", f"/queue{text}", f"/queue/{text}"):
        if _is_ours(path):
            split = urlsplit(path)
            assert (split.scheme, split.netloc) == ("", "")
            assert path.startswith("/")
            assert not path.startswith(("//", "/\\"))
            assert posixpath.normpath(unquote(split.path)) == split.path
            assert split.path.split("/")[1] in ("queue", "node", "query")


# --- when a session has ended -----------------------------------------------------------------------------------------


def test_a_comment_is_kept_through_signing_in_again(world: World) -> None:
    client, path = world.signed_in(Role.EDITOR), world.path("doubt")
    comment = "Checked twice:\n<b>the register</b> has it. \u202e"
    form = Page.of(client.get(path)).forms[-1]
    client.post("/sign-out", data=Page.of(client.get("/queue")).forms[0])
    late = client.post(f"{path}/decision", data={**form, "decision": "approve", "comment": comment})
    assert late.status_code == 401
    assert "What you wrote is kept" in Page.of(late).text
    assert comment.replace("<", "&lt;").replace(">", "&gt;") in late.text
    fields = {**Page.of(late).forms[-1], "written": comment}
    wrong = client.post("/sign-in", data={**fields, "token": "wrong"})
    assert wrong.status_code == 401
    assert comment.replace("<", "&lt;").replace(">", "&gt;") in wrong.text
    fields = {**Page.of(wrong).forms[-1], "written": comment}
    answer = client.post("/sign-in", data={**fields, "token": world.server.token(Role.EDITOR)})
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    page = client.get(path)
    for _ in range(2):
        page = client.get(path)
        assert "nothing has been decided yet" in Page.of(page).text
        held = page.text.partition('name="comment"')[2].partition("</textarea>")[0].partition(">\n")[2]
        assert held == comment.replace("<", "&lt;").replace(">", "&gt;")
    form = Page.of(page).forms[-1]
    client.post(f"{path}/decision", data={**form, "decision": "approve", "comment": comment})
    assert "“Checked twice:" in Page.of(client.get(path)).text
    assert "nothing has been decided yet" not in client.get(path).text


def test_a_query_is_kept_through_signing_in_again(still: World) -> None:
    client, query = still.visitor(), "SELECT * { ?s ?p ?o } # " + "x" * 5_000
    late = client.post("/query", data={"query": query})
    assert late.status_code == 401
    fields = {**Page.of(late).forms[-1], "written": query, "token": still.server.token(Role.READER)}
    assert client.post("/sign-in", data=fields).headers["location"] == "/query"
    assert query in Page.of(client.get("/query")).text


def test_what_another_site_sends_is_not_shown_as_what_somebody_wrote(still: World) -> None:
    for headers in FOREIGN:
        late = still.visitor().post(f"{still.path('doubt')}/decision", data={"comment": "believe me"}, headers=headers)
        assert late.status_code == 401
        assert "believe me" not in late.text


def test_a_token_is_never_given_back(still: World) -> None:
    late = still.visitor().post(f"{still.path('doubt')}/decision", data={"token": "my-secret", "comment": "why"})
    assert "my-secret" not in late.text


# --- by link ----------------------------------------------------------------------------------------------------------


def test_a_link_works_once_and_looking_at_it_does_not_use_it_up(still: World) -> None:
    path = f"/sign-in?code={still.code(Role.EDITOR)}"
    for _ in range(3):
        looked = still.visitor().get(path)
        assert "Sign in as editor-" in Page.of(looked).text
        assert SESSION not in looked.headers.get("set-cookie", "").replace("muniment-sign-in", "")
    client, other = still.visitor(), still.visitor()
    form = Page.of(other.get(path)).forms[-1]
    assert signing_in(client, path).headers["location"] == "/queue"
    assert client.get("/queue").status_code == 200
    late = other.post("/sign-in", data=form)
    assert late.status_code == 401
    assert "has been used" in Page.of(late).text
    assert "has been used" in Page.of(other.get(path)).text


def test_a_link_of_a_token_that_is_gone_is_worth_nothing(world: World) -> None:
    world.server.base.ledger.add_principal(Principal("leaver", Role.EDITOR), token_hash("leaving"))
    code = world.server.sessions.issue_code(token_hash("leaving"))
    world.server.base.ledger.revoke("leaver")
    assert "has been used, or its time is over" in Page.of(world.visitor().get(f"/sign-in?code={code}")).text


# --- other sites ------------------------------------------------------------------------------------------------------

FOREIGN = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"origin": "https://evil.example"},
    {"origin": "null"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_forms_from_other_sites_are_refused(still: World, headers: dict[str, str]) -> None:
    client = still.signed_in(Role.EDITOR)
    form = Page.of(client.get(still.path("doubt"))).forms[-1]
    for path in (f"{still.path('doubt')}/decision", "/sign-out"):
        answer = client.post(
            path, data={**form, "decision": "approve"} if "decision" in path else form, headers=headers
        )
        assert answer.status_code == 403
        assert "another site" in Page.of(answer).text
    assert client.get("/queue").status_code == 200


@pytest.mark.parametrize("token", [None, "", "wrong", "é"])
def test_forms_without_the_sessions_token_are_refused(still: World, token: str | None) -> None:
    client = still.signed_in(Role.EDITOR)
    form = {"decision": "approve"} | ({} if token is None else {"forgery-token": token})
    assert client.post(f"{still.path('doubt')}/decision", data=form).status_code == 403
    other = Page.of(still.signed_in(Role.EDITOR).get("/queue")).forms[0]["forgery-token"]
    assert client.post(f"{still.path('doubt')}/decision", data={**form, "forgery-token": other}).status_code == 403
    assert "waiting" in Page.of(client.get(still.path("doubt"))).text


def test_nobody_can_be_signed_in_from_another_site(still: World) -> None:
    token = still.server.token(Role.READER)
    assert still.visitor().post("/sign-in", data={"token": token}).status_code == 403
    form = Page.of(still.visitor().get("/sign-in")).forms[-1]
    assert still.visitor().post("/sign-in", data={**form, "token": token}).status_code == 403


def test_whoever_comes_by_a_link_from_elsewhere_is_told_how_to_go_on(still: World) -> None:
    answer = still.visitor().get("/sign-in?next=/query", headers={"sec-fetch-site": "cross-site"})
    assert Page.of(answer).links["go on to the page"] == "/query"


def test_too_many_failures_are_refused_unseen_and_say_when_to_come_back(world: World) -> None:
    client = world.visitor()
    assert [signing_in(client, token="wrong").status_code for _ in range(FAILURES)] == [401] * FAILURES
    answer = signing_in(client, token=world.server.token(Role.READER))
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "60"


# --- sessions by themselves -------------------------------------------------------------------------------------------


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_session_ends_when_it_is_not_used_and_in_any_case_some_day() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    idle = sessions.begin(bytes(32))
    clock.now = IDLE
    assert sessions.find(idle) is not None
    clock.now += IDLE + 1
    assert sessions.find(idle) is None
    used, begun = sessions.begin(bytes(32)), clock.now
    while clock.now <= begun + LONGEST:
        assert sessions.find(used) is not None
        clock.now += IDLE / 2
    assert sessions.find(used) is None


def test_a_code_ends_by_itself() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    code = sessions.issue_code(bytes(32), lifetime=60)
    clock.now = 60
    assert sessions.peek(code) == bytes(32)
    clock.now = 61
    assert sessions.peek(code) is None
    assert sessions.redeem(code) is None


def test_failures_are_forgotten_after_a_while() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    for _ in range(FAILURES):
        sessions.require_patience("here")
        sessions.failed("here")
    sessions.require_patience("elsewhere")
    clock.now = WINDOW + 1
    sessions.require_patience("here")


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_MOST_SESSIONS", "_MOST_CODES", "_MOST_ADDRESSES", "_MOST_DRAFTS"):
        monkeypatch.setattr(f"api.callers.sessions.{name}", 3)
    sessions = Sessions(Clock())
    cookies, codes = [sessions.begin(bytes(32)) for _ in range(5)], [sessions.issue_code(bytes(32)) for _ in range(5)]
    assert [sessions.find(each) is not None for each in cookies] == [False, False, True, True, True]
    assert [sessions.peek(each) is not None for each in codes] == [False, False, True, True, True]
    monkeypatch.setattr("api.callers.sessions._MOST_SESSIONS", 9)
    drafted = [sessions.begin(bytes(32), ("/queue", str(number))) for number in range(5)]
    held = [sessions.find(each) for each in drafted]
    assert [each.draft_of("/queue") for each in held if each is not None] == [None, None, "2", "3", "4"]
    for address in range(5):
        sessions.failed(str(address))
    assert len(sessions._failures) == 3
