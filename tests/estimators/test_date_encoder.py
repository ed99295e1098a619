"""Dates as numbers: the calendar of the standard library, in every way of writing."""

from datetime import date, datetime, timedelta

import numpy as np
import pytest
from sklearn.base import clone

from onefit import DateEncoder

DAYS = [date(1969, 12, 31), date(2000, 2, 29), date(2023, 12, 31), date(2024, 1, 1), date(2024, 3, 10)]


def expected(days):
    first = min(days)
    return np.array([[(day - first).days, day.year, day.month, day.weekday()] for day in days], dtype=float)


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d 00:00:00"])
def test_numbers_are_those_of_the_calendar(written):
    X = np.array([[day.strftime(written)] for day in DAYS], dtype=object)
    np.testing.assert_array_equal(DateEncoder().fit_transform(X), expected(DAYS))


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_arrays_of_dates(unit):
    X = np.array(DAYS[1:], dtype=f"datetime64[{unit}]")[:, None]
    np.testing.assert_array_equal(DateEncoder().fit_transform(X), expected(DAYS[1:]))


def test_frames_of_dates():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"joined": pandas.to_datetime(DAYS), "left": pandas.to_datetime([*DAYS[:4], None])})
    encoder = DateEncoder().fit(frame)
    found = encoder.transform(frame)
    np.testing.assert_array_equal(found[:, :4], expected(DAYS))
    assert np.isnan(found[4, 4:]).all()
    assert encoder.get_feature_names_out().tolist()[:5] == [
        "joined_days", "joined_year", "joined_month", "joined_weekday", "left_days",
    ]  # fmt: skip


def test_times_and_zones():
    X = [["2024-01-01T23:30:00-01:00"], ["2024-01-02 12:00"], ["2024-01-02T00:30Z"]]
    moments = [datetime(2024, 1, 2, 0, 30), datetime(2024, 1, 2, 12), datetime(2024, 1, 2, 0, 30)]
    found = DateEncoder().fit_transform(X)
    np.testing.assert_allclose(found[:, 0], [(m - moments[0]) / timedelta(days=1) for m in moments], atol=1e-9)
    np.testing.assert_allclose(found[:, 4], [0.5, 12.0, 0.5], atol=1e-6)


def test_new_rows_are_counted_from_the_first_of_training():
    encoder = clone(DateEncoder()).fit([["10.01.2024"], [None]])
    assert encoder.transform([["09.01.2024"]])[0, 0] == -1.0
    assert np.isnan(encoder.transform([[None]])).all()


@pytest.mark.parametrize("cell", ["soon", "2024-02-30", "12", "1.2.3", "31/31/2024"])
def test_other_text_is_refused(cell):
    with pytest.raises(ValueError, match="cannot be read as a date"):
        DateEncoder().fit([["2024-01-01"], [cell]])
    with pytest.raises(ValueError, match="2D array"):
        DateEncoder().fit(["2024-01-01"])
    with pytest.raises(ValueError, match="2 columns"):
        DateEncoder().fit([["2024-01-01"]]).transform([["2024-01-01", "2024-01-01"]])
