"""The results of training runs as a table, as curves and as JSON: pure functions of figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.svg import Curve, Panel, picture

REFERENCE: Mapping[int, int] = {
    25: 351_337,
    50: 1_141_130,
    100: 3_502_857,
    200: 10_810_267,
    300: 21_552_466,
    500: 53_423_131,
}
"""Cumulative training tokens of ACE's own code, unmodified, 3 rounds and a second curator call,
against the same simulator in its verbose setting on Formula (given, not measured here)."""

TERSE_REFERENCE: Mapping[int, int] = {500: 8_981_820}
"""The same in the simulator's terse setting."""

Points = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one training run cost and reached.

    Attributes:
        name: Of the configuration.
        task: ``formula`` or ``finer``.
        split: Whose split it is.
        retriever: ``llm``, ``hybrid``, ``lexical`` or ``all``.
        rounds: Generation rounds an example, with a ``+`` where the curator is called twice.
        setting: ``verbose`` or ``terse``, with the faults injected.
        options: What was given to ``memcli train`` beyond task, retriever and rounds.
        steps: Training examples.
        tokens: Prompt and completion tokens of training calls, failed ones included.
        cumulative: (step, training tokens up to there) at each tenth step and the marks of the
            reference.
        prompts: (step, mean prompt tokens a step over the 25 up to there), likewise.
        accuracy: Parts right of parts asked in training predictions, all steps.
        last_100: The same over the last 100 steps.
        validation: (step, accuracy) of each evaluation; step 0 is the empty memory.
        ceiling: Share of validation parts that training shows at all, where it can be known.
        nodes: Active lessons at the end.
        edges: Active edges at the end.
        labels: Labels applied to edges.
        most_nodes: Largest generator memory of any training step, from the traces.
        most_tokens: Its most tokens.
        missing_traces: Training steps without exactly one trace; 0 is right.
        outcomes: Requests that gave nothing usable, by outcome; most were tried again.
        failures: Roles that failed in a training step after all tries.
        unscored: Training steps without a prediction: a failure, not a wrong answer.
        post_curate: Accuracy after each step's update, where it was asked for.
        seconds: Wall-clock time of the process.
        cpu_ms: CPU of the memcli process a model call, start and evaluations included.
    """

    name: str
    task: str
    split: str
    retriever: str
    rounds: str
    setting: str
    options: str
    steps: int
    tokens: int
    cumulative: Points
    prompts: Points
    accuracy: float
    last_100: float
    validation: Points
    nodes: int
    edges: int
    labels: int
    most_nodes: int
    most_tokens: int
    missing_traces: int
    calls: int
    seconds: float
    cpu_ms: float
    ceiling: float | None = None
    outcomes: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    unscored: int = 0
    post_curate: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Figures:
        """Return the figures that `as_dict` gave, read back from JSON."""
        curves = {
            name: [(step, value) for step, value in data[name]]
            for name in ("cumulative", "prompts", "validation")
        }
        return cls(**(dict(data) | curves))

    def reference(self, step: int | None = None) -> int | None:
        """Return the reference's tokens after ``step`` (the last by default); None without one.

        Only Formula has one, in the setting it was measured in.
        """
        if self.task != "formula":
            return None
        known = TERSE_REFERENCE if self.setting.startswith("terse") else REFERENCE
        return known.get(self.steps if step is None else step)

    def saved(self, step: int | None = None) -> float | None:
        """Return the share of the reference's tokens not spent up to ``step``; None without."""
        reference = self.reference(step)
        spent = dict(self.cumulative).get(self.steps if step is None else step)
        return None if reference is None or spent is None else 1 - spent / reference

    def prompt_growth(self) -> float | None:
        """Return mean prompt tokens of the last 25 steps over those of steps 101–125.

        1 is flat. None for a run too short to say.
        """
        at = dict(self.prompts)
        early, late = at.get(125), at.get(self.steps)
        return late / early if early and late and self.steps >= 200 else None


COLUMNS = (
    *("run", "task", "retriever", "rounds", "setting", "steps", "tokens", "reference", "saved"),
    *("at 200", "growth", "acc. last 100", "val 0", "val best", "ceiling", "nodes", "edges"),
    *("labels", "mem. nodes", "mem. tokens", "bad replies", "failed roles", "CPU ms/call"),
)


def row(figures: Figures) -> tuple[str, ...]:
    """Return the cells of a run; fits `COLUMNS`."""
    best = max((share for _, share in figures.validation), default=None)
    cold = dict(figures.validation).get(0)
    growth = figures.prompt_growth()
    return (
        figures.name,
        figures.task,
        figures.retriever,
        figures.rounds,
        figures.setting,
        str(figures.steps),
        f"{figures.tokens:,}",
        _count(figures.reference()),
        _share(figures.saved()),
        _share(figures.saved(200)),
        "–" if growth is None else f"{growth:.2f}",
        _share(figures.last_100),
        _share(cold),
        _share(best),
        _share(figures.ceiling),
        str(figures.nodes),
        str(figures.edges),
        str(figures.labels),
        str(figures.most_nodes),
        f"{figures.most_tokens:,}",
        str(sum(figures.outcomes.values())),
        str(sum(figures.failures.values())),
        f"{figures.cpu_ms:.1f}",
    )


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, a line a row."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in each) + " |\n" for each in lines
    )


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


CURVES = ("llm", "hybrid", "lexical", "all")
"""Configurations whose curves are drawn, where there is a run of them."""


def curves(runs: Mapping[str, Figures], *, steps: int) -> str:
    """Return the picture of the verbose Formula runs: what they cost, and what a step reads.

    Left: cumulative training tokens beside the reference. Right: prompt tokens a step.
    """
    shown = [runs[name] for name in CURVES if name in runs]
    given = [(0, 0), *((step, tokens) for step, tokens in REFERENCE.items() if step <= steps)]
    reference = Curve(name="ACE, 3 rounds (given)", points=given, is_reference=True)
    spent = Panel(
        title="Training tokens, cumulative",
        x_label="training examples",
        y_label="tokens",
        curves=[reference, *(Curve(name=f.name, points=[(0, 0), *f.cumulative]) for f in shown)],
    )
    read = Panel(
        title="Prompt tokens a step, mean of 25",
        x_label="training examples",
        y_label="tokens",
        curves=[Curve(name=f.name, points=f.prompts) for f in shown],
    )
    note = (
        "Formula, simulated model, verbose setting, one round; it never misreads a lesson: "
        "nothing about real models follows."
    )
    return picture([spent, read], note=note)
