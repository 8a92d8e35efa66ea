"""The roles, as people write them on the command line and in settings.

Example
-------
>>> RoleName("editor").role
<Role.EDITOR: 3>
"""

from __future__ import annotations

from enum import StrEnum

from kernel.access import Role


class RoleName(StrEnum):
    """The roles, each including the ones before."""

    READER = "reader"
    WRITER = "writer"
    EDITOR = "editor"
    ADMINISTRATOR = "administrator"

    @property
    def role(self) -> Role:
        """What it stands for."""
        return Role[self.name]
