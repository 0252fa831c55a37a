"""`pathcast generate`: documents, subscriptions and feeds of any size from a seed, and the list of presets."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import Output
from pathcast.cli.generate_common import preset_of
from pathcast.cli.generate_documents import generate_documents
from pathcast.cli.generate_feed import generate_feed
from pathcast.cli.generate_subscriptions import generate_subscriptions

if TYPE_CHECKING:
    from pathcast.generators.presets import Preset

__all__ = ["generate_app"]

generate_app = typer.Typer(
    name="generate",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Generate documents, subscriptions or feeds: the same seed gives the same bytes.",
)
generate_app.command("documents")(generate_documents)
generate_app.command("subscriptions")(generate_subscriptions)
generate_app.command("feed")(generate_feed)


@generate_app.command()
def presets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Tell all about one preset.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write a JSON object.")] = False,
) -> None:
    """List the presets (the workloads of papers) and the bundled schemas, or tell all about one preset.

    Exit code: 0; 2 for a preset that there is not.

    Example: `pathcast generate presets cao2012-peer`
    """
    from pathcast.generators.bundled import SCHEMA_NAMES, describe_schema
    from pathcast.generators.presets import PRESETS

    chosen = preset_of(name)
    with Output() as output:
        if chosen is not None:
            if as_json:
                output.json(_as_dict(chosen))
            else:
                output.text(_told(chosen))
        elif as_json:
            known = {key: _as_dict(one) for key, one in PRESETS.items()}
            output.json(
                {"presets": known, "schemas": {key: describe_schema(key) for key in SCHEMA_NAMES}}
            )
        else:
            width = max(map(len, [*PRESETS, *SCHEMA_NAMES]))
            output.text("presets")
            for key, one in PRESETS.items():
                output.text(f"  {key:<{width}}  {one.about}")
            output.text("schemas")
            for key in SCHEMA_NAMES:
                output.text(f"  {key:<{width}}  {describe_schema(key)}")


def _as_dict(preset: Preset) -> dict[str, object]:
    return {
        "name": preset.name,
        "about": preset.about,
        "paper": preset.paper,
        "schemas": list(preset.schemas),
        "documents": preset.document_count,
        "subscriptions": preset.subscription_count,
        "arrival": None if preset.arrival is None else str(preset.arrival),
        "document_options": _plain(dataclasses.asdict(preset.documents)),
        "subscription_options": _plain(dataclasses.asdict(preset.subscriptions)),
        "notes": preset.notes,
    }


def _plain(options: dict[str, object]) -> dict[str, object]:
    """The options as JSON has them."""
    return {
        key: _plain(value)
        if isinstance(value, dict)
        else list(value)
        if isinstance(value, tuple)
        else value
        for key, value in options.items()
    }


def _changed(options: object) -> str:
    """The options that are not the usual ones, as `name value` pairs."""
    assert dataclasses.is_dataclass(options)
    assert not isinstance(options, type)
    usual = type(options)()
    found = []
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if value == getattr(usual, field.name):
            continue
        if dataclasses.is_dataclass(value):
            found.append(f"{field.name} ({_changed(value)})")
        else:
            shown = " ".join(map(str, value)) if isinstance(value, tuple) else value
            found.append(f"{field.name.replace('_', '-')} {shown}")
    return ", ".join(found) or "the usual options"


def _told(preset: Preset) -> str:
    lines = [
        f"{preset.name}: {preset.about}",
        preset.paper,
        "",
        preset.notes,
        "",
        f"schemas        {', '.join(preset.schemas)}",
        f"documents      {preset.document_count:,}: {_changed(preset.documents)}",
        f"subscriptions  {preset.subscription_count:,}: {_changed(preset.subscriptions)}",
        f"arrival        {preset.arrival or 'not said'}",
    ]
    return "\n".join(lines)
