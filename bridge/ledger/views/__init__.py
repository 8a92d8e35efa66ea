"""A view of the ledger, room by room: `bridge.ledger.reading` is all of them together."""
