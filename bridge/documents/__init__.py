"""What comes in as text: RDF documents, JSON-LD and changes in JSON, read into atoms."""
