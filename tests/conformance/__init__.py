"""The suites of the W3C, run over HTTP against a served base."""
