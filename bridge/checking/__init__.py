"""Files, or a base as it stands, checked offline, and where in a file a node is described."""
