"""The thin outside: HTTP application, command line, settings and access."""
