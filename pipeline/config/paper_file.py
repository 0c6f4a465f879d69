"""conf/paper/<name>.yaml, composed and checked: a draft of a manuscript."""

from pydantic import Field, model_validator

from pipeline.config.checking import checked
from pipeline.config.hydra import composed_file
from pipeline.config.listed import CONF, listed
from pipeline.config.models import Entry, Words
from pipeline.terminal.names import no_such

KIND = "paper"
TABLES = ("comparisons", "budgets")


class PaperSection(Entry):
    """A section of a draft.

    Attributes
    ----------
    paragraphs : templates, filled as captions are
    figures : of conf/workflow.yaml, after the text
    tables : captions, which are templates too, of some of `TABLES`
    """

    title: str
    paragraphs: Words
    figures: Words = ()
    tables: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _tables_are_known(self) -> "PaperSection":
        for name in self.tables:
            if name not in TABLES:
                raise ValueError(f"there is no table {name!r}: {', '.join(TABLES)}")
        return self


class Paper(Entry):
    """A draft of a manuscript.

    Attributes
    ----------
    abstract : a template
    comparisons : of conf/workflow.yaml, those that the text tells of
    """

    name: str
    title: str
    authors: Words
    abstract: str
    comparisons: Words
    sections: list[PaperSection]


def paper_names() -> list[str]:
    """The files of conf/paper."""
    return list(listed(KIND))


def read_paper(name: str) -> Paper:
    """Compose and check conf/paper/<name>.yaml."""
    if name not in paper_names():
        raise no_such(f"{CONF / KIND} has no paper", name, paper_names())
    path = CONF / KIND / f"{name}.yaml"
    return checked(Paper, {"name": name, **composed_file(path)}, str(path))
