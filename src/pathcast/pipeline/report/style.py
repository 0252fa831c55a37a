"""The style sheet of the report: light or dark by system setting, one or two columns by width."""

from __future__ import annotations

from typing import Final

__all__ = ["STYLE"]

STYLE: Final = """
:root { color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1c2330; --muted: #5b6577; --line: #d9dee6;
  --accent: #2a6fdb; --second: #d9822b; --bad: #c8403a; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12161d; --card: #1a2029; --ink: #e6eaf1; --muted: #9aa5b6; --line: #343d4b;
  --accent: #6ba4ff; --second: #f0a657; --bad: #f0716a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial,
    sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 20px 16px 48px; }
h1 { font-size: 1.5rem; margin: 8px 0 2px; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 4px; }
p { margin: 4px 0 12px; color: var(--muted); overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(136px, 1fr)); gap: 10px;
  margin: 16px 0; }
.figures div, section { background: var(--card); border: 1px solid var(--line);
  border-radius: 10px; }
.figures div { padding: 10px 14px; }
.figures b { display: block; font-size: 1.3rem; font-weight: 650;
  font-variant-numeric: tabular-nums; }
.figures span { color: var(--muted); font-size: .82rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr));
  gap: 14px; align-items: start; }
section { padding: 14px 16px; min-width: 0; }
section.wide { grid-column: 1 / -1; }
section p { font-size: .85rem; }
svg { display: block; width: 100%; max-width: 560px; height: auto; margin: 0 auto; }
svg text { font-family: inherit !important; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .86rem; }
th, td { padding: 5px 10px 5px 0; text-align: right; vertical-align: top;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; white-space: nowrap; }
th { color: var(--muted); font-weight: 500; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
td:first-child, td.text { white-space: normal; overflow-wrap: anywhere; min-width: 9em; }
tr:last-child td { border-bottom: 0; }
.none { color: var(--muted); margin: 8px 0; }
@media print { body { background: none; } section { break-inside: avoid; } }
"""
