"""The collector of a process that serves."""

import subprocess
import sys

LEAKING = """
import weakref
from api.collector import YOUNG, relieve

class Ring:
    def __init__(self):
        self.me = self

kept = weakref.ref(before := Ring())
relieve()
first = weakref.ref(Ring())
for _ in range(YOUNG):
    Ring()
assert first() is None and kept() is before
"""


def test_what_comes_later_is_still_collected() -> None:
    subprocess.run([sys.executable, "-c", LEAKING], check=True)
