"""`python -m infra.documents`: the documents that are made from code, `docs/openapi.json` and `docs/problems.md`."""
