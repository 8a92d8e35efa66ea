"""Start-up notices packages of others under our names."""

import subprocess
import sys
from pathlib import Path

import pytest

import api
from api.ownership import foreign_packages


def test_our_own_are_ours() -> None:
    assert foreign_packages() == []


def test_from_elsewhere_all_of_them_are_foreign(tmp_path: Path) -> None:
    assert len(foreign_packages(tmp_path)) == 6


@pytest.mark.parametrize("name", ["kernel", "certificates"])
def test_a_package_of_the_same_name_is_found_before_it_is_imported(tmp_path: Path, name: str) -> None:
    foreign = tmp_path / name
    foreign.mkdir()
    (foreign / "__init__.py").write_text("raise SystemExit('imported')")
    home = Path(api.__file__).parent.parent
    script = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(home)!r}];"
        "from api.ownership import foreign_packages; print(*foreign_packages())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"the package {name} is another distribution's, in {foreign}"
