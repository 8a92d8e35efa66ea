"""The JSON of requests and answers: as types for this code, and as schemas for the OpenAPI document.

Rules
-----
* A member that does not apply is absent; null stands only where the schema says so.
* Ids are `urn:uuid:` IRIs, IRIs plain text, instants XSD dateTime text in UTC, hashes and salts hexadecimal.
* These are dictionaries: nothing is validated or copied on the way out. That the answers keep to what is declared here
  is tested with every answer that a test gets. Requests are read by the bridge, strictly, and only described here.
* What is imported here is needed when the schemas are made, not for types alone.
"""
