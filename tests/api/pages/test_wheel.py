"""What is installed has the templates and the style sheet."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.requirements import REPOSITORY


def test_the_wheel_holds_every_template_and_asset(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    pages = REPOSITORY / "api" / "pages"
    wanted = {
        str(each.relative_to(REPOSITORY)) for kind in ("templates", "assets") for each in (pages / kind).iterdir()
    }
    assert len(wanted) > 8
    assert wanted <= held
