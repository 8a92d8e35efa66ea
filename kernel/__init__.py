"""Typed atoms and the rules over them: pure, with I/O entering through the ports that it defines."""
