"""Points and stretches of the time line, as people and as XSD write them."""
