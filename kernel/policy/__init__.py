"""From what was found of a plan to a verdict, and who may approve it."""
