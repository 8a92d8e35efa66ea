"""Updates by SPARQL, and of graphs as a whole: certified writes whose changes follow from the state of the base."""
