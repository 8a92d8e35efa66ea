"""Benchmarks that print ratios against peers measured in the same run: `make bench`, or `python -m bench --help`.

Rules
-----
* Every contestant, ours included, is a process of its own, in the environment of its own that it is installed in, and
  does the same work on the same facts (`workload`); the driver asks them in turn over pipes (`serving`, `entrant`).
* They alternate: each round asks every contestant for every measure, at every size; figures are medians over the
  rounds. What a machine does in between then meets all of them.
* CPU is that of the contestant's process alone; for HTTP, of the server's, not of the client's.
* A contestant that cannot be installed, or that crashes, is said to be so; nothing fails on a ratio.
* What runs inside a peer's environment (`workload`, `measuring`, `serving`, `peers`) imports only the standard library
  and the peer.

Example
-------
::

    make bench ARGS="--quick --only ours,fluree"
"""
