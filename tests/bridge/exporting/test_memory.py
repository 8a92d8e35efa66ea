"""An export of 200,000 facts takes no more memory than a small one, whatever the format."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.console import ENVIRONMENT, script

FACTS = 200_000
ALLOWED = 100
"""Megabytes, most of them for the terms that are kept at hand, of which there is a limit."""

CHILD = """
import json, sys
from pathlib import Path
from bridge.base import Base
from bridge.exporting.exporter import Exporter, ExportRequest, Format
from bridge.reading.moments import NOW
from kernel.access import Principal, Role
from kernel.vocabulary import DEFAULT_GRAPH

def private():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon"))

with Base.open(Path(sys.argv[1])) as base:
    before, peak, size = private(), 0, {}
    for written in Format:
        request = ExportRequest(Principal("p", Role.READER), DEFAULT_GRAPH, written, True, True)
        with Exporter(base.ledger, base.key, base.host).open(request, NOW) as export:
            for chunk in export.chunks():
                size[written] = size.get(written, 0) + len(chunk)
                peak = max(peak, private())
print(json.dumps({"more": peak - before, "size": size}))
"""


@pytest.mark.fuzz
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_the_graph(tmp_path: Path) -> None:
    facts = tmp_path / "facts.nt"
    with facts.open("w", encoding="utf-8") as file:
        file.writelines(
            f'<urn:s{number // 5}> <urn:p{number % 5}> "value {number}"@en-GB .\n' for number in range(FACTS)
        )
    loaded = script("load", facts, "--data", tmp_path / "data", "--valid-from", "2020")
    assert loaded.status == 0, loaded.errors
    command = [sys.executable, "-c", CHILD, str(tmp_path / "data")]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, env=ENVIRONMENT, timeout=600).stdout)
    assert min(told["size"].values()) > 50 * 2**20
    assert told["more"] < ALLOWED
