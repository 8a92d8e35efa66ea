"""One certificate: what it says, what was found, and deciding on it."""

import re
from base64 import b64encode
from typing import Final
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx2
import pytest

from api.pages.findings import MOST_OF_A_CAUSE, TITLES
from api.settings import Settings
from bridge.base import Base
from certificates.canonical import digest_hex
from certificates.findings import FindingCode
from certificates.keys import SigningKey
from certificates.records import DecisionKind, editor_statement
from kernel.access import Principal, Role
from tests.api.bodies import EX, change
from tests.api.pages.world import NAMES, Page, World
from tests.api.serving import Served, served

HOLDER = f"SELECT ?who {{ <{EX}chancellor> <{EX}heldBy> ?who }}"


def decide(client: httpx2.Client, path: str, decision: str, **fields: str) -> httpx2.Response:
    """Sends the form of a certificate's page."""
    form = Page.of(client.get(path)).forms[-1]
    return client.post(f"{path}/decision", data={**form, "decision": decision, **fields})


def told(client: httpx2.Client, path: str) -> str:
    return Page.of(client.get(path)).text


def test_it_says_in_words_what_would_change_and_why(still: World) -> None:
    text = told(still.signed_in(Role.EDITOR), still.path("successor"))
    assert "Chancellor of Germany held by Olaf Scholz, since 8 December 2021." in text
    assert "the Bundestag has elected a new chancellor" in text
    assert "Federal Law Gazette" in text
    assert (
        "Ended stopped being true proposed by a rule Nobody asked for this end: a rule of the base proposes it, so that"
        " no two facts contradict each other. Before Chancellor of Germany held by Angela Merkel, since 22 November"
        " 2005." in text
    )
    assert (
        "After Chancellor of Germany held by Angela Merkel, from 22 November 2005 until the end of 7 December 2021."
        in text
    )
    assert "Contradicts what is held: held by" in text
    assert "Olaf Scholz contradicts Angela Merkel, held since 22 November 2005" in text


def test_a_correction_shows_both_spellings_and_a_doubt_how_sure_they_were(still: World) -> None:
    client = still.signed_in(Role.EDITOR)
    text = told(client, still.path("correct"))
    assert "Corrected was recorded otherwise" in text
    assert "from 1 October 1982 until 27 October 1998" in text
    assert "from October 1982 until 27 October 1998" in text
    assert "confidence 0.3" in told(client, still.path("doubt"))


def test_what_differs_is_marked(world: World) -> None:
    world.ask(
        "moved", {"op": "revise", "fact": world.fact("merkel"), "object": {"@id": EX + "scholz"}, "confidence": 0.1}
    )
    client = world.signed_in(Role.EDITOR)
    marked = re.findall(r"<mark>(.*?)</mark>", client.get(world.path("correct")).text)
    assert [re.sub("<.*?>", "", each) for each in marked] == [
        "from 1 October 1982 until 27 October 1998",
        "from October 1982 until 27 October 1998",
    ]
    marked = re.findall(r"<mark>(.*?)</mark>", client.get(world.path("moved")).text)
    assert [re.sub("<.*?>", "", each) for each in marked] == ["Angela Merkel", "Olaf Scholz"]


def test_years_before_the_first_are_as_people_write_them(still: World) -> None:
    assert "Roman consul held by Julius Caesar, from 59 BCE until 58 BCE" in told(
        still.signed_in(Role.READER), still.path("held")
    )


def test_both_axes_are_drawn_and_described(still: World) -> None:
    page = Page.of(still.signed_in(Role.EDITOR).get(still.path("successor")))
    drawings = [given for tag, given in page.tags if tag == "svg" and given.get("role") == "img"]
    assert len(drawings) == 1
    described = {given.get("id") for tag, given in page.tags if tag in ("title", "desc")}
    assert set(drawings[0]["aria-labelledby"].split()) <= described
    assert "Before: Chancellor of Germany held by Angela Merkel, since 22 November 2005." in page.text
    assert "After: Chancellor of Germany held by Olaf Scholz, since 8 December 2021." in page.text
    roles = [given["class"] for tag, given in page.tags if tag == "rect" and given["class"].startswith("box")]
    assert sorted(roles) == ["box kept", "box kept", "box new", "box new", "box old"]


# --- deciding ---------------------------------------------------------------------------------------------------------


def test_an_approval_is_applied_and_what_sparql_answers_changes(world: World) -> None:
    client = world.signed_in(Role.EDITOR)
    asked = f"/query?query={quote(HOLDER)}"
    assert "Angela Merkel" in told(client, asked)
    answer = decide(client, world.path("successor"), "approve", comment="as the gazette has it\r\nof that day")
    assert (answer.status_code, answer.headers["location"]) == (303, world.path("successor"))
    text = told(client, world.path("successor"))
    assert "Approved and applied" in text
    assert "approved it" in text
    assert "“as the gazette has it of that day”" in text
    assert "Checked again before it was applied, with the same result" in text
    assert "Approved and applied" not in told(client, world.path("successor")), "said once"
    assert "Olaf Scholz" in told(client, asked)
    assert "Angela Merkel" not in told(client, asked)
    assert "Angela Merkel" in told(client, asked + "&valid-at=2021-12-07")
    assert Page.of(client.get(world.path("successor"))).links["To the next that waits"] == world.path("doubt")


def test_a_rejection_changes_nothing(world: World) -> None:
    client = world.signed_in(Role.EDITOR)
    decide(client, world.path("successor"), "reject", comment="not yet")
    text = told(client, world.path("successor"))
    assert "Rejected: nothing was changed." in text
    assert "“not yet”" in text
    assert "Angela Merkel" in told(client, f"/query?query={quote(HOLDER)}")


def test_of_two_editors_the_second_learns_what_the_first_decided(world: World) -> None:
    first, second = world.signed_in(Role.EDITOR), world.signed_in(Role.EDITOR)
    form = Page.of(second.get(world.path("doubt"))).forms[-1]
    decide(first, world.path("doubt"), "reject", comment="hearsay")
    answer = second.post(f"{world.path('doubt')}/decision", data={**form, "decision": "approve"})
    assert answer.status_code == 409
    text = Page.of(answer).text
    assert "Somebody else was first" in text
    assert "“hearsay”" in text
    assert (
        len(world.server.client(Role.EDITOR).get(f"/certificates/{world.certificates['doubt']}").json()["decisions"])
        == 1
    )


def test_an_approval_after_the_base_has_changed_says_what_was_applied_in_its_place(world: World) -> None:
    client = world.signed_in(Role.EDITOR)
    world.ask("between", {"op": "end", "fact": world.fact("merkel"), "at": "2021-11-30"})
    decide(client, world.path("successor"), "approve", comment="late")
    first, second = (Page.of(client.get(world.path("successor"))) for _ in range(2))
    assert "Your approval came too late" in first.text
    assert "The base changed before this was approved" in second.text
    for page in (first, second):
        assert "gained, Chancellor of Germany held by Olaf Scholz, since 8 December 2021" in page.text
        assert "It has been applied." in page.text
    text = told(client, first.links["Look at what was applied"])
    assert "takes the place of an earlier certificate" in text
    assert "applied at once, as any clear request is; nobody decided on it" in text
    assert "Of the earlier certificate" in text
    assert "“late”" in text


def test_what_means_something_else_now_and_is_not_clear_waits_again(world: World) -> None:
    client = world.signed_in(Role.EDITOR)
    world.ask("between", {"op": "revise", "fact": world.fact("merkel"), "validFrom": "2005-11-23"})
    decide(client, world.path("successor"), "approve")
    page = Page.of(client.get(world.path("successor")))
    assert "It waits for a decision." in page.text
    text = told(client, page.links["Go on to the new certificate"])
    assert "waits for a decision of its own" in text
    assert "from 23 November 2005" in text


def test_what_is_said_of_a_certificate_waits_for_its_own_page(world: World) -> None:
    client = world.signed_in(Role.EDITOR)
    decide(client, world.path("successor"), "approve")
    decide(client, world.path("doubt"), "reject")
    for other in ("correct", "held"):
        assert "Approved and applied" not in told(client, world.path(other))
    assert "Rejected: nothing was changed." in told(client, world.path("doubt"))
    assert "Approved and applied" in told(client, world.path("successor"))


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_who_clicks_twice_has_decided_once(world: World, decision: str) -> None:
    client, path = world.signed_in(Role.EDITOR), world.path("successor")
    form = Page.of(client.get(path)).forms[-1] | {"decision": decision}
    answers = [client.post(f"{path}/decision", data=form) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 303]
    text = told(client, path)
    assert ("Approved and applied" if decision == "approve" else "Rejected: nothing was changed") in text
    assert "Somebody else" not in text
    otherwise = client.post(
        f"{path}/decision", data=form | {"decision": {"approve": "reject"}.get(decision, "approve")}
    )
    assert otherwise.status_code == 409
    assert "You had decided this otherwise already" in Page.of(otherwise).text
    assert "Somebody else" not in Page.of(otherwise).text


def test_an_approval_of_what_cannot_be_done_any_more_says_why(world: World) -> None:
    client = world.signed_in(Role.EDITOR)
    world.ask("gone", {"op": "retract", "fact": world.fact("kohl")})
    decide(client, world.path("correct"), "approve")
    assert "They cannot be carried out any more" in told(client, world.path("correct"))


# --- who may ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [Role.READER, Role.WRITER])
def test_who_may_not_decide_has_no_form_and_is_refused(still: World, role: Role) -> None:
    client = still.signed_in(role)
    page = Page.of(client.get(still.path("doubt")))
    assert "It takes an editor of every graph concerned" in page.text
    assert all("decision" not in given.get("name", "") for tag, given in page.tags if tag == "button")
    answer = client.post(f"{still.path('doubt')}/decision", data={**page.forms[0], "decision": "approve"})
    assert answer.status_code == 403
    assert "Deciding takes an editor" in Page.of(answer).text


def test_what_may_not_be_seen_is_not_there(still: World) -> None:
    client = still.signed_in(Role.EDITOR, "urn:elsewhere")
    form = Page.of(client.get("/queue")).forms[0]
    for name in (*still.certificates.values(), uuid4(), "nothing"):
        assert client.get(f"/queue/{name}").status_code == 404
        assert client.post(f"/queue/{name}/decision", data={**form, "decision": "approve"}).status_code == 404


def test_names_of_graphs_that_one_may_not_read_are_not_told(server: Served) -> None:
    world = World(server)
    world.post(server.writer, NAMES, graph="urn:secret")
    world.ask("open", change("merkel", "bornIn", "hamburg", graph="urn:open", confidence=0.1))
    text = told(world.signed_in(Role.EDITOR, "urn:open"), world.path("open"))
    assert "merkel born in hamburg" in text
    assert "Angela" not in text
    assert "Angela Merkel born in Hamburg" in told(world.signed_in(Role.EDITOR), world.path("open"))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"decision": "maybe"},
        {"decision": "approve", "more": "x"},
        {"decision": "approve", "comment": "x" * 10_001},
    ],
)
def test_a_form_that_says_nothing_or_too_much_is_refused(still: World, fields: dict[str, str]) -> None:
    client = still.signed_in(Role.EDITOR)
    form = Page.of(client.get(still.path("doubt"))).forms[-1]
    assert client.post(f"{still.path('doubt')}/decision", data={**form, **fields}).status_code == 400


def test_a_shape_that_is_broken_is_told_with_its_message(world: World) -> None:
    world.ask("broken", change("ada", "age", {"@value": "old"}), {
        "op": "assert", "subject": {"@id": EX + "ada"},
        "predicate": {"@id": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"}, "object": {"@id": EX + "Person"},
    })  # fmt: skip
    text = told(world.signed_in(Role.EDITOR), world.path("broken"))
    assert "Does not fit a shape: age" in text
    assert "An age is a whole number" in text
    assert "Nobody had to: the checks refused it." in text


def old_ages(world: World, count: int) -> str:
    kind = {"predicate": {"@id": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"}}
    ages = [change(f"s{number}", "age", {"@value": "old"}) for number in range(count)]
    world.ask("many", *ages, *(change(f"s{number}", "", "Person") | kind for number in range(count)))
    return world.path("many")


def test_findings_of_one_cause_are_told_once_with_a_few_of_them_and_the_others_have_a_page(world: World) -> None:
    path, editor = old_ages(world, 60), world.signed_in(Role.EDITOR)
    page = Page.of(editor.get(path))
    text = told(editor, path)
    assert "violation × 60 Does not fit a shape: age" in text
    assert text.lower().count("an age is a whole number") == 1
    assert text.count("about s") == MOST_OF_A_CAUSE
    assert "All 60 of this cause" in text
    address = next(given["href"] for tag, given in page.tags if tag == "a" and "cause=" in given["href"])
    found: list[str] = []
    while address:
        answer = Page.of(editor.get(address))
        found += re.findall(r"about (s\d+)", answer.text)
        address = next((given["href"] for tag, given in answer.tags if given.get("rel") == "next"), "")
    assert sorted(found) == sorted(f"s{number}" for number in range(60))


def test_the_causes_have_a_page_too(world: World) -> None:
    path, editor = old_ages(world, 3), world.signed_in(Role.EDITOR)
    answer = Page.of(editor.get(f"{path}/findings"))
    assert "1 cause, the gravest first" in answer.text
    assert [given["href"] for tag, given in answer.tags if tag == "a" and "cause=1" in given["href"]]
    for asked, where in (("cause=2", "cause"), ("cause=1&from=4", "from"), ("cause=0", "cause"), ("x=1", "x")):
        assert (refused := editor.get(f"{path}/findings?{asked}")).status_code == 400
        assert where in refused.text
    assert editor.get(f"/queue/{uuid4()}/findings").status_code == 404


def test_every_kind_of_finding_has_a_title() -> None:
    assert set(TITLES) >= {code.value for code in FindingCode}


@pytest.mark.parametrize("size", [1, 199, 200, 201, 650])
def test_every_change_of_a_plan_of_any_size_is_on_one_of_its_pages(world: World, size: int) -> None:
    world.ask("many", *(change(f"s{number:04d}", "p", "o", confidence=0.1) for number in range(size)))
    client = world.signed_in(Role.EDITOR)
    more = f"{size - 1:,} more changes: {size:,} gained in all"
    assert (more in told(client, "/queue")) is (size > 1)
    found: list[str] = []
    path = world.path("many")
    for number in range(10):
        page = Page.of(client.get(path))
        told_more = f"{size - 1:,} more changes in the same certificate: {size:,} gained in all" in page.text
        assert told_more is (size > 1 and number == 0)
        assert f"This decides on {size:,} change" in page.text
        found += re.findall(r"not believed before (s\d{4}) p o", page.text)
        following = page.links.get("The next ones")
        if following is None:
            break
        path = following
    assert found == [f"s{number:04d}" for number in range(size)]
    assert ("The first" in Page.of(client.get(path)).links) is (size > 200)
    assert client.get(f"{world.path('many')}?from-change={size + 1}").status_code == 400


def test_changes_of_each_kind_are_counted_and_shown_whole(world: World) -> None:
    """Facts held before stand far from those that take their place in a plan, and so does the evidence."""
    world.ask("base", *(change(f"s{number:03d}", "p", "o", validFrom="2001") for number in range(520)))
    held = world.server.writer.get("/facts", params={"predicate": EX + "p", "object": EX + "o", "limit": "500"}).json()
    facts = [each["fact"] for each in held["items"]]
    left = held["items"][400]["statement"]["subject"]["@id"]
    world.ask(
        "mixed",
        *({"op": "end", "fact": fact, "at": "2005"} for fact in facts[:210]),
        *({"op": "revise", "fact": fact, "validFrom": "2000"} for fact in facts[210:310]),
        *({"op": "retract", "fact": fact} for fact in facts[310:340]),
        *(change(f"n{number:03d}", "p", "o", confidence=0.1) for number in range(95)),
        change(left.removeprefix(EX), "p", "o", validFrom="2001"),
        episode=EX + "register",
    )
    client, path, seen = world.signed_in(Role.EDITOR), world.path("mixed"), ""
    for _ in range(10):
        page = Page.of(client.get(path))
        assert "95 gained, 210 ended, 100 corrected, 30 withdrawn, 1 confirmed" in page.text
        seen += page.text.partition("What the checks found")[0]
        if "The next ones" not in page.links:
            break
        path = page.links["The next ones"]
    assert seen.count("Ended stopped being true Before s") == 210
    assert seen.count("Corrected was recorded otherwise Before s") == 100
    assert seen.count("Nothing: it is no longer believed.") == 30
    assert seen.count("Gained was not believed before n") == 95
    assert seen.count("Confirmed is held already, and gains evidence") == 1
    assert seen.count("Federal Law Gazette") >= 210 + 100 + 95 + 1, "each with its evidence"


def test_governance_is_seen_by_those_who_may(still: World) -> None:
    administrator, editor = still.signed_in(Role.ADMINISTRATOR), still.signed_in(Role.EDITOR)
    assert "one-holder is of kind SingleValuedBySubject" in told(administrator, "/queue?state=any").replace("m:", "")
    assert "one-holder" not in told(editor, "/queue?state=any")


# --- what approvals are held to ---------------------------------------------------------------------------------------

STRICT: Final = Settings(self_approval=False, approvals=2)


def doubted(client: httpx2.Client) -> str:
    """The page of a certificate that waits for editors, asked for by the client."""
    body = {"changes": [change("ada", "bornIn", "rome", confidence=0.2)]}
    return f"/queue/{UUID(client.post('/changes', json=body).json()['certificate'])}"


def test_what_is_missing_is_said_before_and_after_an_approval() -> None:
    with Base.open(None, policy=STRICT.verdict_policy) as base, served(base) as server:
        world = World(server)
        path = doubted(server.writer)
        one, other, reader = (world.signed_in(role) for role in (Role.EDITOR, Role.EDITOR, Role.READER))
        assert "It takes 2 more approvals, of editors of every graph concerned" in told(reader, path)
        assert "An approval of yours does not apply it yet: it takes 1 more, of other editors" in told(one, path)
        assert decide(one, path, "approve").status_code == 303
        text = told(one, path)
        assert "Your approval counts, and nothing is applied yet: it takes 1 more approval, of other editors." in text
        assert "You cannot approve it here: you have approved it already" in text
        assert "Approve" not in buttons(one, path)
        assert "does not apply it yet" not in told(other, path)
        assert "It takes an editor of every graph concerned" in told(reader, path)
        assert decide(other, path, "approve").status_code == 303
        assert "Approved and applied" in told(other, path)


def test_who_asked_for_it_does_not_approve_it() -> None:
    with Base.open(None, policy=STRICT.verdict_policy) as base, served(base) as server:
        world = World(server)
        token = server.token(Role.EDITOR)
        client = world.visitor()
        form = Page.of(client.get("/sign-in")).forms[-1]
        client.post("/sign-in", data={**form, "token": token})
        own = httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {token}"}, trust_env=False)
        path = doubted(server.enter(own))
        assert "You cannot approve it here: whoever asked for a change does not approve it." in told(client, path)
        assert buttons(client, path) == ["Reject"]
        assert decide(client, path, "reject").status_code == 303


def test_a_signature_with_a_key_of_the_editors_own_is_shown() -> None:
    with Base.open(None, policy=Settings(signed_approvals=True).verdict_policy) as base, served(base) as server:
        world, key = World(server), SigningKey.generate()
        path = doubted(server.writer)
        client, reader = server.client_of(Principal("ed", Role.EDITOR)), world.signed_in(Role.EDITOR)
        text = told(reader, path)
        assert "approvals are signed with the editor's own key here. muniment decide --sign-with does so." in text
        base.ledger.register_key("ed", key.public.multibase)  # type: ignore[attr-defined]
        certificate = client.get(path.replace("queue", "certificates"), headers={"Accept": "application/vc"})
        signed = editor_statement(UUID(path[7:]), digest_hex(certificate.content), DecisionKind.APPROVE)
        body = {"decision": "approve", "signature": b64encode(key.sign(signed)).decode()}
        answer = client.post(f"{path.replace('queue', 'certificates')}/decision", json=body)
        assert answer.json()["state"] == "applied", answer.text
        assert f"and signed with their own key, {key.public.multibase}" in told(reader, path)


def test_of_a_contradiction_the_kind_is_said(still: World) -> None:
    client = still.signed_in(Role.EDITOR)
    for path in (still.path("successor"), f"{still.path('successor')}/findings?cause=1"):
        assert "contradiction of kind " in told(client, path)


def buttons(client: httpx2.Client, path: str) -> list[str]:
    """What may be decided."""
    return re.findall(r'name="decision" value="[a-z]+">(\w+)<', client.get(path).text)
