"""Option groups: a dataclass whose fields are options that belong together.

Typer reads the options of a command from its signature. `with_option_groups` replaces each
parameter whose type is an option group by the fields of the group, and passes the group to the
command. A group thus declares its options, their help and their checks in one place.

>>> @option_group
... class Greeting:
...     name: str = "world"
>>> @with_option_groups
... def hello(greeting: Greeting, loud: bool = False) -> str:
...     return f"hello {greeting.name}{'!' if loud else ''}"
>>> list(inspect.signature(hello).parameters)
['name', 'loud']
>>> hello(name="Ann", loud=True)
'hello Ann!'
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, get_type_hints

__all__ = ["given_options", "option_group", "with_option_groups"]

Group = TypeVar("Group")
Command = TypeVar("Command", bound=Callable[..., object])


@dataclass_transform(frozen_default=True, kw_only_default=True)
def option_group(group: type[Group]) -> type[Group]:
    """Make a class an option group: a frozen dataclass that `with_option_groups` expands."""
    options = dataclasses.dataclass(frozen=True, kw_only=True)(group)
    options.__option_group__ = True  # type: ignore[attr-defined]
    return options


def with_option_groups(command: Command) -> Command:
    """Return the command with a signature in which each option group is replaced by its fields."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        if getattr(hint, "__option_group__", False):
            groups[parameter.name] = hint
            parameters += _parameters(hint)
        else:
            parameters.append(
                parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY)
            )

    @functools.wraps(command)
    def wrapper(**values: Any) -> object:
        for name, group in groups.items():
            fields = [field.name for field in dataclasses.fields(group)]
            values[name] = group(
                **{field: values.pop(field) for field in fields if field in values}
            )
        return command(**values)

    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapper  # type: ignore[return-value]


def given_options(group: object) -> dict[str, Any]:
    """Return the options of a group that have a value, by field; None means not given."""
    return {name: value for name, value in vars(group).items() if value is not None}


def _parameters(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty
            if field.default is dataclasses.MISSING
            else field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(group)
    ]
