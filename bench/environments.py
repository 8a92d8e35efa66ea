"""Environments of the peers, each installed from PyPI once and kept.

Rules
-----
* They lie under `MUNIMENT_BENCH_HOME`, by default `.bench/` in the repository.
* What they share with ours (Oxigraph, rdflib, pySHACL) has our version, so that only what is built on it differs.
* An environment that is not finished is made again. What cannot be installed is an `Unavailable`, not the end of the
  run.
* The environment has no pip of its own: that of the Python below this one installs into it, as in the Makefile.

Example
-------
::

    python = environment(home, "fluree", ["fluree==4.2.4"])
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from importlib.metadata import version
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


class Unavailable(Exception):
    """A contestant that cannot take part, and why."""


def home() -> Path:
    """Where environments are kept."""
    return Path(os.environ.get("MUNIMENT_BENCH_HOME") or REPOSITORY / ".bench").resolve()


def same_as_ours(*distributions: str) -> list[str]:
    """Requirements of the versions that are installed here."""
    return [f"{name}=={version(name)}" for name in distributions]


def environment(directory: Path, name: str, requirements: list[str]) -> Path:
    """The Python of an environment that has the requirements, made if need be.

    Args:
        directory: where environments are kept.
        name: the environment's.
        requirements: as pip takes them.

    Raises:
        Unavailable: it cannot be made.
    """
    told = hashlib.sha256("\n".join([sys.version, *requirements]).encode()).hexdigest()[:12]
    path = directory / f"{name}-{told}"
    python, done = path / "bin" / "python", path / "installed"
    if not done.exists():
        shutil.rmtree(path, ignore_errors=True)
        try:
            venv.EnvBuilder(with_pip=False, symlinks=True).create(path)
            _install(path, requirements)
        except (OSError, subprocess.SubprocessError) as error:
            raise Unavailable(f"cannot be installed: {_reason(error)}") from error
        done.write_text("\n".join(requirements) + "\n", encoding="utf-8")
    return python


def _install(path: Path, requirements: list[str]) -> None:
    base = Path(sys.executable).resolve()
    pip = [str(base), "-m", "pip", "--python", str(path), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", *requirements], check=True, capture_output=True, text=True, timeout=300)


def _reason(error: Exception) -> str:
    said = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error)
    lines = str(said).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
