"""Write the documents anew, to be reviewed like code."""

from __future__ import annotations

from infra.documents import openapi, problems
from infra.sources import ROOT

DOCUMENTS = {
    ROOT / "docs" / "openapi.json": openapi.text,
    ROOT / "docs" / "problems.md": problems.text,
}

if __name__ == "__main__":
    for path, text in DOCUMENTS.items():
        path.write_text(text(), encoding="utf-8")
