"""Memory budgets: reading them, and refusing what cannot fit."""

import math

import pytest

from onefit.resources.memory import WORK, check_budget, parse_budget

MATRIX = 8.0 * 1000**2  # bytes of a 1000 x 1000 array


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("17", 17.0),
        ("17B", 17.0),
        ("2k", 2e3),
        ("2 KB", 2e3),
        ("2KiB", 2048.0),
        ("1.5GB", 1.5e9),
        ("512MiB", 512 * 2.0**20),
        (" 3 gib ", 3 * 2.0**30),
        ("1TB", 1e12),
        ("1TiB", 2.0**40),
        (123, 123.0),
        (1e9, 1e9),
        (math.inf, math.inf),
    ],
)
def test_budgets_in_numbers_and_words(text, expected):
    assert parse_budget(text) == expected


@pytest.mark.parametrize("wrong", ["", "GB", "four GB", "4 PB", "-4GB", "4GBB", "1.2.3GB", "5iB", 0, -1, "0GB", True])
def test_impossible_budgets_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match="memory_budget"):
        parse_budget(wrong)


def test_not_a_number_is_refused():
    with pytest.raises(ValueError, match="memory_budget"):
        parse_budget(math.nan)


def test_without_a_budget_it_is_what_the_machine_has():
    assert parse_budget(None) > 0


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("bases", [1, 3])
def test_one_view_fits_exactly_or_not(workers, bases):
    needed = (bases + WORK) * workers * MATRIX
    assert check_budget(1000, bases=bases, views=1, workers=workers, budget=needed)
    with pytest.raises(ValueError, match=r"1,000 rows need .* 999 rows would fit"):
        check_budget(1000, bases=bases, views=1, workers=workers, budget=needed - 1)


@pytest.mark.parametrize("workers", [1, 2])
def test_views_are_kept_if_all_fit_and_computed_anew_if_one_at_a_time_does(workers):
    all_views, one_view = (2 * 5 + WORK) * workers * MATRIX, (2 + WORK) * workers * MATRIX
    options = {"bases": 2, "views": 5, "workers": workers}
    assert check_budget(1000, **options, budget=all_views) is True
    assert check_budget(1000, **options, budget=all_views - 1) is False
    assert check_budget(1000, **options, budget=one_view) is False
    with pytest.raises(ValueError, match="memory budget"):
        check_budget(1000, **options, budget=one_view - 1)


def test_the_error_says_how_many_rows_fit_and_that_one_worker_needs_less():
    with pytest.raises(ValueError, match="n_jobs=1"):
        check_budget(10_000, bases=1, views=1, workers=4, budget=1e9)
    with pytest.raises(ValueError) as caught:
        check_budget(10_000, bases=1, views=1, workers=1, budget=1e9)
    assert "n_jobs=1" not in str(caught.value)
    assert "1 GB" in str(caught.value)
    assert check_budget(math.isqrt(int(1e9 / 32)), bases=1, views=1, workers=1, budget=1e9)
