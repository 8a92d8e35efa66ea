"""How requests and answers travel, whatever they are about."""
