"""The two Oxigraph stores of a base, and the snapshots of its past: projections of the ledger."""
