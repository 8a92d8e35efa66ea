"""Load sessions: files read, staged in the ledger in chunks, and applied under one certificate."""
