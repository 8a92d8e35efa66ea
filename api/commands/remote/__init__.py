"""What the commands ask of a running service, one topic a module; how they ask is `connection`."""
