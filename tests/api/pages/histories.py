"""Nodes with a history to draw: one of five facts, and one of five hundred."""

from random import Random
from typing import Final

from tests.api.bodies import EX, change, request
from tests.api.pages.world import World

FEW: Final = "few"
MANY: Final = "many"


def write_few(world: World) -> None:
    """Five facts: a home that was corrected, one that followed, a name, and a job of long ago."""
    client = world.server.writer
    client.post("/changes", json=request(change(FEW, "livesIn", "paris", validFrom="2001", validTo="2012")))
    found = client.get("/facts", params={"subject": EX + FEW, "valid-at": "any"}).json()["items"]
    revised = {"op": "revise", "fact": found[0]["fact"], "validTo": "2010"}
    for asked in (revised, change(FEW, "livesIn", "rome", validFrom="2012")):
        assert client.post("/changes", json=request(asked)).status_code == 201
    more = (change(FEW, "name", {"@value": "Few"}), change(FEW, "worksFor", "guild", validFrom="1998", validTo="2003"))
    assert client.post("/changes", json=request(*more)).status_code == 201


def write_many(world: World) -> None:
    """Five hundred facts in five certificates, of six predicates, one with 380 values; a tenth was corrected."""
    random = Random(7)
    client = world.server.writer
    for part in range(4):
        asked = []
        for number in range(115):
            start = random.randint(1950, 2020)
            name = "knows" if number % 115 < 88 else random.choice(["livesIn", "worksFor", "memberOf", "cites", "owns"])
            times = {"validFrom": str(start), "validTo": str(start + random.randint(1, 30))}
            asked.append(change(MANY, name, f"thing{part}-{number}") | times)
        assert client.post("/changes", json=request(*asked)).status_code == 201
    found = client.get("/facts", params={"subject": EX + MANY, "valid-at": "any", "limit": "40"}).json()["items"]
    revised = [{"op": "revise", "fact": each["fact"], "validTo": "2024"} for each in found]
    assert client.post("/changes", json=request(*revised)).status_code == 201
