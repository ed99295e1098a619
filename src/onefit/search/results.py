"""The results table, with scikit-learn's keys, types and rank rule."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning

from .row import Row


def build_table(
    candidates: list[dict], rows: list[Row], return_train_score: bool, criteria: Sequence[str] = (), splits: bool = True
) -> dict:
    """``cv_results_`` of the candidates that ``rows`` (one each, same order) report on.

    ``criteria`` get a column each; without ``splits`` the score is one of them and has no split columns.

    Times are those of a candidate divided by its splits. The rank rule is scikit-learn's: ``min`` rank of
    the mean scores, NaN tied with the worst.
    """
    table: dict = {}
    names = list(rows[0].test)
    n_splits = len(rows[0].test[names[0]])
    _store_times(table, rows, n_splits)
    table.update(_parameter_columns(candidates))
    table["params"] = candidates
    expected = np.array([not row.left_out for row in rows])
    for name in names:
        scores = np.array([row.test[name] for row in rows], dtype=np.float64)
        _store_scores(table, f"test_{name}", scores, rank=True, splits=splits, expected=expected)
        if return_train_score:
            scores = np.array([row.train[name] for row in rows], dtype=np.float64)
            _store_scores(table, f"train_{name}", scores, expected=expected)
    for name in criteria:
        table[f"criterion_{name}"] = np.array([row.criteria.get(name, np.nan) for row in rows])
    table["exactness"] = np.array([str(row.exactness) for row in rows], dtype=object)
    table["error_bound"] = np.array([row.error_bound for row in rows])
    table["status"] = np.array([row.status for row in rows], dtype=object)
    table["seconds"] = np.array([row.fit_seconds + row.score_seconds for row in rows])
    return table


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
