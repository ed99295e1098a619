"""A paper's table or figure as frozen data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..criteria import Criterion

MEAN_LOSS, SUM_OF_LOSSES = "mean", "sum"
NO_SETTING = ""


@dataclass(frozen=True)
class Method:
    """A way to select, as a column of a table: a criterion, its folds, and the machine that it looks at.

    ``setting`` is what distinguishes rows of one data set where it is not the penalty, such as the degree of a
    criterion that a figure varies. ``machine`` is only given where a criterion is not defined for the machine
    of the study: it then selects with this one. ``retrain`` is for timing: folds of candidates are trained, of which a
    sample stands for all.
    """

    name: str
    criterion: Criterion
    folds: int | None = None
    machine: str | None = None
    setting: str = NO_SETTING
    retrain: bool = False


@dataclass(frozen=True)
class OpenQuestion:
    """A detail that the paper leaves open, what is done here, and why."""

    detail: str
    answer: str
    reason: str


@dataclass(frozen=True)
class Protocol:
    """How the numbers of one or several tables are obtained.

    ``name`` is that of the journal, which tables of equal conditions share. ``kind`` says what is measured in one cell
    (data set, split): "selection" (the test error of what each method selects), "seconds" (what each method costs),
    "curve" (the criteria's own values over the kernels) or "discrepancy" (of the series from exact out-of-fold values,
    by order). ``grids`` are the kernels, as scikit-learn's parameter grids; ``penalties`` times n to the
    ``power_of_rows`` are the ridges: nλ for a penalty on the mean loss, λ for one on the sum of losses. Unless
    ``select_penalty``, each is a setting of its own; if they are selected too, every one of ``floors`` is a setting in
    which smaller ones are left out. ``validation`` is what cross-validation averages: the "error" of the table, or the
    loss of the "machine". ``sources`` are the data sets' names in the registry, ``rows`` how many of them are used,
    where that is not all, and ``fewer_splits`` the number of splits of data sets that are too large for all of them.
    """

    name: str
    machine: str
    datasets: tuple[str, ...]
    grids: tuple[dict[str, Any], ...]
    penalties: tuple[float, ...]
    methods: tuple[Method, ...]
    splits: int
    train_share: float
    metric: str
    kind: str = "selection"
    select_penalty: bool = True
    floors: tuple[float, ...] = ()
    power_of_rows: int = 0
    validation: str = "error"
    loss: str = MEAN_LOSS
    scaling: str = "minmax"
    sources: tuple[tuple[str, str], ...] = ()
    rows: tuple[tuple[str, int], ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    fewer_splits: tuple[tuple[str, int], ...] = ()

    @property
    def settings(self) -> tuple[str, ...]:
        """Names that tell selections of one method apart: the penalty, or the smallest one that is allowed."""
        if not self.select_penalty:
            return tuple(f"{penalty:g}" for penalty in self.penalties)
        return (NO_SETTING, *(f"penalty >= {floor:g}" for floor in self.floors))

    def allows(self, setting: str, penalty: float) -> bool:
        """Whether a setting admits a penalty."""
        if not self.select_penalty:
            return setting == f"{penalty:g}"
        return setting == NO_SETTING or penalty >= self.floors[self.settings.index(setting) - 1]

    def source(self, dataset: str) -> str:
        """The name of a data set in the registry."""
        return dict(self.sources).get(dataset, dataset)

    def splits_of(self, dataset: str) -> int:
        """How many splits a data set has: those of the protocol, at most."""
        return min(self.splits, dict(self.fewer_splits).get(dataset, self.splits))

    def row_limit(self, dataset: str) -> int | None:
        """How many rows of a data set are used: None for all."""
        return dict(self.rows).get(dataset)


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that a table can confirm or not: ``first`` against ``second``, data set by data set.

    ``verb`` is "is not worse than" (no significant loss on any data set), "does not differ from" (no significant
    difference on any), "is better than" (significant wins on half of them or more, and fewer losses) or "is faster
    than" (its ratio of seconds is above one on half of the data sets or more). ``setting`` limits it to one penalty.

    With ``best_settings`` each of two methods is taken at its best setting of a data set. A claim about settings
    ``within`` a range has one method: that it "does not differ from" itself compares its best and its worst setting of
    the range, that it "is not worse than" itself its best settings in and outside of the range. ``printed`` says that
    the sentence is the paper's; others are ours.
    """

    text: str
    first: str
    verb: str
    second: str
    setting: str | None = None
    best_settings: bool = False
    within: tuple[str, ...] = ()
    printed: bool = True


@dataclass(frozen=True)
class Study:
    """One table or figure of a paper: its key, where its numbers come from and what is printed.

    ``printed_splits`` is the number of splits behind a printed number, where that is not the protocol's. ``tried`` says
    what was tried to agree with print, variants by their keys.
    """

    key: str
    paper: str
    title: str
    protocol: Protocol
    unit: str
    printed: str | None = None
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
    printed_splits: int | None = None
    tried: tuple[str, ...] = ()

    def variant(self, name: str, question: OpenQuestion, title: str, **changes: Any) -> Study:
        """The table with another answer to an open question: a hypothesis for numbers that differ from print.

        If only methods differ, the variant has the table's conditions and so its journal: methods that both have are
        measured once.
        """
        protocol = self.protocol
        others = (other for other in protocol.questions if other.detail != question.detail)
        journal = protocol.name if set(changes) == {"methods"} else f"{protocol.name}-{name}"
        changed = replace(protocol, name=journal, questions=(question, *others), **changes)
        title = f"{self.title}; {title}"
        splits = protocol.splits
        return replace(self, key=f"{self.key}+{name}", title=title, protocol=changed, printed_splits=splits, tried=())

    @property
    def table_key(self) -> str:
        """The key of the table that a variant varies; of other studies their own."""
        return self.key.partition("+")[0]

    @property
    def splits_in_print(self) -> int:
        return self.protocol.splits if self.printed_splits is None else self.printed_splits

    @property
    def is_figure(self) -> bool:
        return ":fig" in self.key

    @property
    def greater_is_better(self) -> bool:
        return self.protocol.metric == "accuracy"
