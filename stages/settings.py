"""What people write in YAML (1.2, as DVC reads it) -> typed settings; what does not fit is one sentence with its place."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from stages.errors import UsageError


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


def read_yaml(path: Path, content: bytes | None = None) -> Any:
    """Parse a YAML 1.2 file, which holds ``content`` where that was read already.

    :raises UsageError: it does not exist, is not UTF-8 or is not YAML; the message names file and line.
    """
    try:
        found = path.read_bytes() if content is None else content
        return YAML(typ="safe").load(found.decode().replace("\r\n", "\n"))
    except FileNotFoundError as error:
        raise UsageError(f"{path.name} is not in {path.parent}; run the command in the project's folder.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name} is not UTF-8 at byte {error.start}; save it as UTF-8.") from error
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise UsageError(f"{path.name} is not valid YAML{line}: {problem}; correct that line.") from error


Shape = TypeVar("Shape", bound=BaseModel)


def validated(path: Path, shape: type[Shape], content: Any) -> Shape:
    """Return ``content`` of ``path`` as ``shape``.

    :raises UsageError: it does not fit; the message names the first key at fault and what is wrong with it.
    """
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"] if part != "[key]")
        problem = first["msg"].removeprefix("Value error, ")
        found = "" if first["type"] in ("missing", "value_error", "extra_forbidden") else f" (found {first['input']!r})"
        at = f", key {key!r}" if key else ""
        raise UsageError(f"{path.name}{at}: {problem}{found}; correct it.") from error
