"""The ports: everything outside that the kernel needs, as small Protocols, and the records that pass through them.

Rules
-----
* Adapters live in `bridge`; each port has one abstract test case that every adapter passes.
* An adapter raises only errors of `kernel.errors`.
* Every read says what it guarantees.
"""
