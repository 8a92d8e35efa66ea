"""The peers, each run in an environment of its own: a module a peer, its name that of the module."""
