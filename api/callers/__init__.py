"""Who asks, what they may, how often, and what is noted of it; and whom we ask ourselves."""
