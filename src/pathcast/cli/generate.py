"""`pathcast generate`: documents, subscriptions and feeds from a seed, and the list of presets."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import Output
from pathcast.cli.generate_common import load_preset
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
    help="Generate documents, subscriptions or feeds; the same seed gives the same bytes.\n\n"
    "Example: `pathcast generate documents news -n 1000 --size 10K -o documents`",
)
generate_app.command("documents")(generate_documents)
generate_app.command("subscriptions")(generate_subscriptions)
generate_app.command("feed")(generate_feed)


@generate_app.command("presets")
def list_presets(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Describe one preset.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write a JSON object.")] = False,
) -> None:
    """List the presets (the workloads of papers) and the bundled schemas, or describe one preset.

    Exit code: 0; 2 for an unknown preset.

    Example: `pathcast generate presets cao2012-peer`
    """
    from pathcast.generators.bundled import SCHEMA_NAMES, describe_schema
    from pathcast.generators.presets import PRESETS

    preset = load_preset(name)
    with Output() as output:
        if preset is not None:
            if as_json:
                output.json(_as_dict(preset))
            else:
                output.text(_describe(preset))
        elif as_json:
            presets = {key: _as_dict(value) for key, value in PRESETS.items()}
            schemas = {key: describe_schema(key) for key in SCHEMA_NAMES}
            output.json({"presets": presets, "schemas": schemas})
        else:
            width = max(map(len, [*PRESETS, *SCHEMA_NAMES]))
            output.text("presets")
            for key, value in PRESETS.items():
                output.text(f"  {key:<{width}}  {value.about}")
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
        "document_options": _json_values(dataclasses.asdict(preset.documents)),
        "subscription_options": _json_values(dataclasses.asdict(preset.subscriptions)),
        "notes": preset.notes,
    }


def _json_values(options: dict[str, object]) -> dict[str, object]:
    """Return the options with tuples as lists, as JSON has them."""
    return {
        key: _json_values(value)
        if isinstance(value, dict)
        else list(value)
        if isinstance(value, tuple)
        else value
        for key, value in options.items()
    }


def _describe_changes(options: object) -> str:
    """Return the options that differ from the defaults, as `name value` pairs."""
    assert dataclasses.is_dataclass(options)
    assert not isinstance(options, type)
    defaults = type(options)()
    pairs = []
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if value == getattr(defaults, field.name):
            continue
        if dataclasses.is_dataclass(value):
            pairs.append(f"{field.name} ({_describe_changes(value)})")
        else:
            text = " ".join(map(str, value)) if isinstance(value, tuple) else value
            pairs.append(f"{field.name.replace('_', '-')} {text}")
    return ", ".join(pairs) or "default options"


def _describe(preset: Preset) -> str:
    lines = [
        f"{preset.name}: {preset.about}",
        preset.paper,
        "",
        preset.notes,
        "",
        f"schemas        {', '.join(preset.schemas)}",
        f"documents      {preset.document_count:,}: {_describe_changes(preset.documents)}",
        f"subscriptions  {preset.subscription_count:,}: {_describe_changes(preset.subscriptions)}",
        f"arrival        {preset.arrival or 'not specified'}",
    ]
    return "\n".join(lines)
