"""The ledger on SQLite: the durable, append-only record of a base, and the source of truth."""
