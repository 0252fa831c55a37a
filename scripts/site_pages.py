"""mkdocs hook: adds the Markdown files of the repository's root to the site.

ARCHITECTURE.md, CHANGELOG.md and CONTRIBUTING.md stay in the root, where tools and readers of the
repository expect them. The hook adds each as a page and rewrites the links between the two folders.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = {"ARCHITECTURE.md": "architecture.md", "CHANGELOG.md": "changelog.md"}
PAGES |= {"CONTRIBUTING.md": "contributing.md", "README.md": "index.md"}
NOT_IN_NAV = ("contributing.md",)


def on_files(files: Any, config: Any) -> Any:
    """Add the root's files as generated pages."""
    from mkdocs.structure.files import File

    for source, page in PAGES.items():
        if page == "index.md":
            continue  # the site has an index of its own
        text = (ROOT / source).read_text(encoding="utf-8")
        text = re.sub(r"\]\(docs/", "](", text)
        generated = File.generated(config, page, content=text)
        if page in NOT_IN_NAV:
            from mkdocs.structure.files import InclusionLevel

            generated.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(generated)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Point links to the root's files at their pages."""
    folders = page.file.src_uri.count("/")
    upwards = "" if page.file.generated_by else "../" * (folders + 1)
    for source, target in PAGES.items():
        old = re.escape(f"]({upwards}{source}")
        markdown = re.sub(rf"{old}(?=[#)])", f"]({'../' * folders}{target}", markdown)
    return markdown
