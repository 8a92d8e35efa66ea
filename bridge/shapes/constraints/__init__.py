"""The constraint components of SHACL Core, by what they look at: single values, all values together, other shapes."""
