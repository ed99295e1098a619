"""The rows of a search and its results table, with scikit-learn's keys, types and rank rule."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Container, Iterable
from dataclasses import replace

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning

from ..machines import Exactness
from .appraisal import column_names
from .request import Request
from .tasks import Row


class Table:
    """One row for each candidate, as they finish. Rows that are finished survive an interruption."""

    def __init__(self, request: Request, candidates: list[dict], several_rounds: bool = False) -> None:
        self.request, self.candidates, self.several_rounds = request, list(candidates), several_rounds
        self.rounds = [0] * len(candidates)
        self.same_as: dict[int, int] = {}
        self.rows: dict[int, Row] = {}
        self.screened: dict[int, float] = {}  # values of the screening criterion

    def add_round(self, candidates: list[dict]) -> int:
        """Append the candidates of another round; the number of the first of them."""
        first = len(self.candidates)
        self.rounds += [self.rounds[-1] + 1] * len(candidates)
        self.candidates += candidates
        return first

    def add(self, rows: Iterable[Row]) -> None:
        """Take finished rows; a row of the same candidate is replaced."""
        self.rows.update({row.candidate: row for row in rows})

    def replace(self, row: Row) -> None:
        """Take the row of a candidate that was evaluated anew, and forget the copies of its old row."""
        self.rows[row.candidate] = row
        for copy in [copy for copy, source in self.same_as.items() if source == row.candidate]:
            self.rows.pop(copy, None)

    def copies(self, rows: dict[int, Row]) -> list[Row]:
        """Rows of the candidates that repeat those of ``rows``, which are given by number."""
        return [
            replace(
                rows[source], candidate=number, status=f"same as candidate {source}", fit_seconds=0.0, score_seconds=0.0
            )
            for number, source in self.same_as.items()
            if source in rows
        ]

    def finished(self) -> list[Row]:
        """Every row there is, in order, those of repeated candidates included; failed ones with ``error_score``."""
        self.add(row for row in self.copies(self.rows) if row.candidate not in self.rows)
        scored = next((row for row in self.rows.values() if row.test), None)
        error_score = np.nan if self.request.error_score == "raise" else self.request.error_score
        for row in self.rows.values():
            if scored is not None and (row.left_out or row.exactness == Exactness.FAILED):
                for mine, theirs in ((row.test, scored.test), (row.train, scored.train)):
                    for name, scores in theirs.items():
                        value = np.nan if row.left_out else error_score
                        mine.setdefault(name, np.full(len(scores), value, dtype=float))
        return [self.rows[number] for number in sorted(self.rows)]

    def scores(self) -> list[float]:
        """The mean score of every candidate, in the metric that decides."""
        rows = self.finished()
        metric = self._deciding(rows)
        return [float(np.mean(row.test.get(metric, np.nan))) for row in rows]

    def _deciding(self, rows: list[Row]) -> str:
        """The metric that decides, or the first where none is named; empty where nothing was scored."""
        metric = self.request.refit
        if isinstance(metric, str) and any(metric in row.test for row in rows):
            return metric
        return next((name for row in rows for name in row.test), "")

    def close_to_best(self, judged: Container[int]) -> list[int]:
        """Candidates within one standard error of the best, or, of ``judged`` ones, above the best of them."""
        rows, scores = self.finished(), np.array(self.scores())
        finite = np.where(np.isfinite(scores), scores, -np.inf)
        known = [score for row, score in zip(rows, finite) if row.candidate in judged]
        if known:
            least = np.nextafter(max(known), np.inf)
        else:
            best = int(np.argmax(finite))
            values = rows[best].test.get(self._deciding(rows), np.zeros(1))
            least = finite[best] - np.nan_to_num(standard_error(values))
        return [row.candidate for row, score in zip(rows, finite) if score >= least and np.isfinite(score)]

    @property
    def multimetric(self) -> bool:
        """Whether there are several metrics by name; of a callable that is known from what it returned."""
        assert self.request.scoring is not None
        return self.request.scoring.named or any(list(row.test) not in ([], ["score"]) for row in self.rows.values())

    def results(self) -> dict:
        """``cv_results_`` of all rows.

        Times are those of a candidate divided by its splits. The rank rule is scikit-learn's: ``min`` rank of the mean
        scores, NaN tied with the worst.
        """
        rows, request = self.finished(), self.request
        candidates = [self.candidates[row.candidate] for row in rows]
        table: dict = {}
        names = list(rows[0].test)
        _store_times(table, rows, n_splits=len(rows[0].test[names[0]]))
        table.update(_parameter_columns(candidates))
        table["params"] = candidates
        expected = np.array([not row.left_out for row in rows])
        splits = request.criterion.scores  # another criterion has no split columns
        for name in names:
            scores = np.array([row.test[name] for row in rows], dtype=np.float64)
            _store_scores(table, f"test_{name}", scores, rank=True, splits=splits, expected=expected)
            if request.return_train_score and splits:
                scores = np.array([row.train[name] for row in rows], dtype=np.float64)
                _store_scores(table, f"train_{name}", scores, expected=expected)
        for name in self._criterion_names(rows):
            table[f"criterion_{name}"] = np.array([row.criteria.get(name, np.nan) for row in rows])
        table["exactness"] = np.array([str(row.exactness) for row in rows], dtype=object)
        table["error_bound"] = np.array([row.error_bound for row in rows])
        table["status"] = np.array([row.status for row in rows], dtype=object)
        table["seconds"] = np.array([row.fit_seconds + row.score_seconds for row in rows])
        if self.several_rounds:
            table["round"] = np.array([self.rounds[row.candidate] for row in rows])
        return table

    def _criterion_names(self, rows: list[Row]) -> list[str]:
        """Names of the criteria's columns; rows are given the values of screening."""
        columns, screen = self.request.columns, self.request.screen
        if screen is None or not self.screened:
            return column_names(columns) if columns else []
        *names, own = column_names((*columns, screen.criterion))
        if screen.criterion in columns:
            own = names[columns.index(screen.criterion)]
        else:
            names.append(own)
        for row in rows:
            if row.candidate in self.screened:
                row.criteria.setdefault(own, self.screened[row.candidate])
        return names


def standard_error(scores: np.ndarray) -> float:
    """Standard error of the mean of scores (splits,); NaN for a single one."""
    return float(np.std(scores, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else np.nan


def _store_times(table: dict, rows: list[Row], n_splits: int) -> None:
    for key, seconds in (
        ("fit_time", [row.fit_seconds for row in rows]),
        ("score_time", [row.score_seconds for row in rows]),
    ):
        table[f"mean_{key}"] = np.array(seconds) / n_splits
        table[f"std_{key}"] = np.zeros(len(rows))


def _store_scores(
    table: dict, key: str, scores: np.ndarray, *, expected: np.ndarray, rank: bool = False, splits: bool = True
) -> None:
    """Split columns, mean, standard deviation and rank of scores (candidates, splits); some may not be ``expected``."""
    for split in range(scores.shape[1] if splits else 0):
        table[f"split{split}_{key}"] = scores[:, split]
    means = scores.mean(axis=1)
    table[f"mean_{key}"] = means
    if not np.isfinite(means[expected]).all():
        kind = key.split("_")[0]
        warnings.warn(f"One or more of the {kind} scores are non-finite: {means}", UserWarning, stacklevel=2)
    with np.errstate(invalid="ignore"):
        table[f"std_{key}"] = scores.std(axis=1)
    if rank:
        table[f"rank_{key}"] = _ranks(means)


def _ranks(means: np.ndarray) -> np.ndarray:
    if np.isnan(means).all():
        return np.ones(len(means), dtype=np.int32)
    worst = np.nanmin(means) - 1
    return rankdata(-np.where(np.isnan(means), worst, means), method="min").astype(np.int32)


def _parameter_columns(candidates: list[dict]) -> dict:
    """One masked array per parameter, masked where a candidate does not have it."""
    found: dict[str, dict[int, object]] = defaultdict(dict)
    for number, candidate in enumerate(candidates):
        for name, value in candidate.items():
            found[f"param_{name}"][number] = value
    columns = {}
    for key, values in found.items():
        try:
            array = np.array(list(values.values()))
            dtype = array.dtype if array.dtype.kind != "U" and array.ndim == 1 else np.dtype(object)
        except ValueError:  # ragged
            dtype = np.dtype(object)
        column = MaskedArray(np.empty(len(candidates), dtype=dtype), mask=True)
        for number, value in values.items():
            column[number] = value
        columns[key] = column
    return columns


class NothingFittedError(ValueError):
    """No candidate could be trained on any fold; ``reason`` is the last line of the last error."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.reason = message.rsplit("ValueError: ", 1)[-1].strip()


def report_failures(rows: list[Row], n_splits: int, error_score) -> None:
    """Warn, or raise if nothing could be trained, as scikit-learn does; but a lack of memory is a MemoryError."""
    rows = [row for row in rows if not row.left_out]
    errors = [text for row in rows for text in row.failures.values()]
    if not errors:
        return
    total = len(rows) * n_splits
    details = "\n".join(
        f"{'-' * 80}\n{count} fits failed with the following error:\n{text}" for text, count in Counter(errors).items()
    )
    if len(errors) == total and all("MemoryError" in text.rstrip().rpartition("\n")[2] for text in errors):
        raise MemoryError(f"All the {total} fits ran out of memory. Below are more details:\n{details}")
    if len(errors) == total:
        raise NothingFittedError(
            f"\nAll the {total} fits failed.\nIt is very likely that your model is misconfigured.\n"
            f"You can try to debug the error by setting error_score='raise'.\n\n"
            f"Below are more details about the failures:\n{details}"
        )
    warnings.warn(
        f"\n{len(errors)} fits failed out of a total of {total}.\n"
        f"The score on these train-test partitions for these parameters will be set to {error_score}.\n"
        "If these failures are not expected, you can try to debug them by setting error_score='raise'.\n\n"
        f"Below are more details about the failures:\n{details}",
        FitFailedWarning,
        stacklevel=3,
    )
