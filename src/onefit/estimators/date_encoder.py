"""Dates as numbers: a scikit-learn transformer."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._public import set_module

PARTS = ("days", "year", "month", "weekday")
"""Numbers that every date gives; a column with times of day gives its hour too."""

_SECONDS_PER_DAY = 86400.0
_EPOCH = datetime(1970, 1, 1)
_TIME = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME, re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + _TIME, re.ASCII)


@set_module("onefit")
class DateEncoder(TransformerMixin, BaseEstimator):
    """Columns of dates as numbers: days since the first, year, month, weekday, and the hour where there are times.

    Dates may be text such as ``2024-01-31``, ``31.01.2024``, ``1/31/2024`` or ``2024-01-31T12:30:00+01:00``, or what
    pandas and NumPy hold. Text with the year last is read with the day first, unless a value of the column shows that
    the month is. Dates with an offset from UTC are taken to UTC. Missing dates give NaN.

    Attributes
    ----------
    first_ : array (n_columns,)
        The first date of every column, in days since 1970.
    month_first_, with_hours_ : arrays of bool (n_columns,)
        Whether a year at the end follows the day, as in 1/31/2024; whether the hour is one of the numbers.

    Examples
    --------
    >>> from onefit import DateEncoder
    >>> DateEncoder().fit_transform([["2024-01-30"], ["2024-02-01"]])  # Tuesday is 1
    array([[0.000e+00, 2.024e+03, 1.000e+00, 1.000e+00],
           [2.000e+00, 2.024e+03, 2.000e+00, 3.000e+00]])
    """

    def fit(self, X: Any, y: Any = None) -> DateEncoder:
        """Learn the first date of every column of X (n, d); a value that is no date is a ValueError."""
        X = _table(X)
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        cells = _columns(X)
        self.n_features_in_ = len(cells)
        self.month_first_ = np.array([_month_first(column) for column in cells], dtype=bool)
        days = [_days(column, first) for column, first in zip(cells, self.month_first_)]
        self.first_ = np.array([0.0 if np.isnan(column).all() else np.nanmin(column) for column in days])
        self.with_hours_ = np.array([bool(np.any(np.mod(column[~np.isnan(column)], 1.0))) for column in days])
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The numbers of every column, (n, 4 or 5 for each column)."""
        check_is_fitted(self)
        cells = _columns(_table(X))
        if len(cells) != self.n_features_in_:
            raise ValueError(f"X has {len(cells)} columns, but DateEncoder was fitted on {self.n_features_in_}.")
        numbers = []
        for k, column in enumerate(cells):
            days = _days(column, self.month_first_[k])
            numbers += [days - self.first_[k], *_calendar(days)]
            if self.with_hours_[k]:
                numbers.append(24.0 * np.mod(days, 1.0))
        return np.column_stack(numbers)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the numbers, such as ``joined_year``."""
        check_is_fitted(self)
        if input_features is None:
            input_features = getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])
        return np.array(
            [
                f"{name}_{part}"
                for name, hours in zip(input_features, self.with_hours_)
                for part in (*PARTS, *(("hour",) if hours else ()))
            ],
            dtype=object,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def are_dates(cells: Any) -> bool:
    """Whether every cell that is not missing reads as a date, and there are some."""
    present = {cell for cell in cells if cell is not None}
    month_first = _month_first(present)
    return bool(present) and all(_parsed(cell, month_first) is not None for cell in present)


def days_of(cells: Any) -> np.ndarray:
    """Days since 1970 of dates as ``DateEncoder`` reads them, NaN where missing."""
    return _days(cells, _month_first(cells))


def _table(X: Any) -> Any:
    if not hasattr(X, "shape"):
        X = np.asarray(X, dtype=object)
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead. Reshape a column with [:, None].")
    return X


def _columns(X: Any) -> list[np.ndarray]:
    values = np.asarray(X)
    if values.dtype.kind == "M":
        values = values.astype("datetime64[us]")  # of which datetime has the range
    values = values.astype(object)
    return [values[:, k] for k in range(values.shape[1])]


def _month_first(cells: Any) -> bool:
    """Whether some date shows, by a second number beyond 12, that it has the month first, and none the opposite."""
    found = [match for cell in set(map(str, cells)) if (match := _YEAR_LAST.fullmatch(cell.strip()))]
    return any(int(match[3]) > 12 for match in found) and not any(int(match[1]) > 12 for match in found)


def _days(cells: Any, month_first: bool) -> np.ndarray:
    """Days since 1970, NaN where there is no value."""
    known: dict[Any, float] = {}
    days = np.empty(len(cells))
    for row, cell in enumerate(cells):
        if cell is None or cell != cell:  # NaN and NaT
            days[row] = np.nan
            continue
        text = str(cell)
        if text not in known:
            moment = _parsed(text, month_first)
            if moment is None:
                raise ValueError(f"{text[:60]!r} cannot be read as a date such as 2024-01-31 or 31.01.2024.")
            known[text] = (moment - _EPOCH).total_seconds() / _SECONDS_PER_DAY
        days[row] = known[text]
    return days


def _parsed(text: str, month_first: bool) -> datetime | None:
    """The moment in UTC, without a zone; None if the text is no date."""
    text = text.strip()
    if match := _YEAR_FIRST.fullmatch(text):
        year, month, day = match[1], match[3], match[4]
    elif match := _YEAR_LAST.fullmatch(text):
        year, month, day = (match[4], match[1], match[3]) if month_first else (match[4], match[3], match[1])
    else:
        return None
    hour, minute, second, offset = match.groups()[4:]
    try:
        moment = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
        return moment - _offset(offset)
    except (ValueError, OverflowError):
        return None


def _offset(text: str | None) -> timedelta:
    if text is None or text == "Z":
        return timedelta()
    moment = datetime.strptime(text.replace(":", ""), "%z")
    return (moment.tzinfo or UTC).utcoffset(None) or timedelta()


def _calendar(days: np.ndarray) -> list[np.ndarray]:
    """Year, month from 1, and weekday from 0, Monday; NaN where missing."""
    missing = np.isnan(days)
    dates = np.where(missing, 0.0, np.floor(days)).astype("datetime64[D]")
    year = dates.astype("datetime64[Y]").astype(int) + 1970.0
    month = dates.astype("datetime64[M]").astype(int) % 12 + 1.0
    weekday = (dates.astype(int) + 3) % 7 + 0.0
    return [np.where(missing, np.nan, part) for part in (year, month, weekday)]
