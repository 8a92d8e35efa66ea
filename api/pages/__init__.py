"""The pages for editors: server-rendered, without scripts, behind a session.

Rules
-----
* A page reads through the same doors as the JSON API, for the same principals: it knows nothing that they do not tell.
* Pages are no part of the OpenAPI document. What holds for every route holds for them: unknown parameters are errors,
  whatever can be got has a HEAD.

Example
-------
::

    for routed in pages.ROUTED:
        app.include_router(routed.router)
    problems.install(app)
    errors.install(app)
"""
