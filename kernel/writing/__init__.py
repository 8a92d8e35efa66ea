"""The write path: from a request to what is applied, waiting or refused."""
