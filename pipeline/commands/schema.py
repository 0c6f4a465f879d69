"""What a file may hold, as JSON Schema: morphtrack schema structure.

Editors check and complete a structure file with it: write it beside the file, and begin
a YAML file with "# yaml-language-server: $schema=structure.schema.json".

Example:
  morphtrack schema structure > structure.schema.json
"""

import json

from pydantic import BaseModel

from pipeline.cases.loaded import LoadedFile
from pipeline.formats.rod_entries import RodFile
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, command

MODELS: dict[str, type[BaseModel]] = {
    "structure": LoadedFile,
    "robot": RodFile,
}


def arguments() -> OneLineParser:
    parser = OneLineParser("schema", __doc__)
    parser.add_argument(
        "kind",
        choices=MODELS,
        help="structure: a structure file, springs, loads and supports among it; "
        "robot: a file of rods",
    )
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Print the schema."""
    model = MODELS[arguments().parse_args(argv).kind]
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    print(json.dumps(schema | model.model_json_schema(), indent=1))
    return DONE
