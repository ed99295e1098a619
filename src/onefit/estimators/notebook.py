"""A fitted search in a notebook: the answer, its exactness, its cost and a small heat map."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import Any

import numpy as np

from ..search.choice import error_of_mean

CELLS = 1600
"""Cells of a heat map that are drawn."""

_STYLE = """
.onefit-summary{font:14px/1.45 system-ui,sans-serif;max-width:52rem}
.onefit-summary dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.4rem 0}
.onefit-summary dt{opacity:.7}.onefit-summary dd{margin:0;overflow-wrap:anywhere}
.onefit-summary table{border-collapse:separate;border-spacing:1px;font-size:11px;margin:.4rem 0}
.onefit-summary th{font-weight:500;padding:0 .3rem;text-align:right;opacity:.8}
.onefit-summary td{width:1.4rem;height:1.1rem;padding:0;text-align:center}
"""


def summary_html(search: Any) -> str:
    """The summary of a search that has results, a piece of HTML that loads nothing and needs no script."""
    results, best = search.cv_results_, _best(search)
    lines = {
        "chosen": ", ".join(f"{name}={_plain(value)}" for name, value in results["params"][best].items()),
        _score_name(search): _score(search, best),
        "exactness": _exactness(results, best),
        "cost": _cost(search),
    }
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in lines.items())
    title = escape(type(search).__name__)
    return (
        f'<div class="onefit-summary"><style>{_STYLE}</style><b>{title}</b><dl>{facts}</dl>{_map(search, best)}</div>'
    )


def _metric(search: Any) -> str:
    """The suffix of the columns of the score that selects."""
    names = [key.removeprefix("mean_test_") for key in search.cv_results_ if key.startswith("mean_test_")]
    return search.refit if isinstance(search.refit, str) and search.refit in names else names[0]


def _score_name(search: Any) -> str:
    metric = _metric(search)
    return metric if metric != "score" else search.scoring if isinstance(search.scoring, str) else "score"


def _best(search: Any) -> int:
    ranks = np.asarray(search.cv_results_[f"rank_test_{_metric(search)}"])
    return int(getattr(search, "best_index_", ranks.argmin()))


def _score(search: Any, best: int) -> str:
    metric, results = _metric(search), search.cv_results_
    value = float(results[f"mean_test_{metric}"][best])
    splits = sum(key.startswith("split") and key.endswith(f"_test_{metric}") for key in results)
    if splits < 2:
        return f"{value:.4g}"
    error = float(error_of_mean(np.asarray(results[f"std_test_{metric}"], dtype=float)[best], splits))
    return f"{value:.4g} ± {error:.2g} (standard error over {splits} folds)"


def _exactness(results: dict[str, Any], best: int) -> str:
    labels = Counter(map(str, results["exactness"]))
    rest = ", ".join(f"{count:,} {label}" for label, count in labels.most_common())
    return f"{results['exactness'][best]} (of all candidates: {rest})"


def _cost(search: Any) -> str:
    results = search.cv_results_
    spent = float(np.nansum(np.asarray(results["seconds"], dtype=float)))
    trainings = len(results["params"]) * search.n_splits_
    refit = f", and {search.refit_time_:.3g} s to train the choice" if hasattr(search, "refit_time_") else ""
    return f"{spent:.3g} s in place of {trainings:,} trainings{refit}"


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _map(search: Any, best: int) -> str:
    """Scores over the two parameters that vary most, the others as chosen; nothing where fewer than two vary."""
    results = search.cv_results_
    params, chosen = results["params"], results["params"][best]
    sizes = {name: len({str(other.get(name)) for other in params}) for name in chosen}
    names = sorted((name for name in sizes if sizes[name] > 1), key=lambda name: -sizes[name])[:2]
    if len(names) < 2:
        return ""
    same = [i for i, other in enumerate(params) if all(other.get(k) == v for k, v in chosen.items() if k not in names)]
    rows, columns = (sorted({params[i][name] for i in same if name in params[i]}, key=_order) for name in names)
    if not 0 < len(rows) * len(columns) <= CELLS:
        return ""
    means = np.asarray(results[f"mean_test_{_metric(search)}"], dtype=float)
    low, high = _ends(means)
    cells = {(str(params[i][names[0]]), str(params[i][names[1]])): i for i in same if set(names) <= set(params[i])}
    head = "".join(f'<th scope="col" title="{escape(names[1])}">{escape(_plain(each))}</th>' for each in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(_plain(row))}</th>'
        + "".join(_cell(cells.get((str(row), str(column))), means, low, high, best) for column in columns)
        + "</tr>"
        for row in rows
    )
    corner = escape(f"{names[0]} ↓ {names[1]} →")
    return f'<table><thead><tr><th scope="col">{corner}</th>{head}</tr></thead><tbody>{body}</tbody></table>'


def _ends(means: np.ndarray) -> tuple[float, float]:
    """Scores at the ends of the colours: few dreadful candidates do not use them up."""
    known = means[np.isfinite(means)]
    if not len(known):
        return 0.0, 1.0
    high, middle = float(known.max()), float(np.median(known))
    return max(float(known.min()), high - 3 * (high - middle)), high


def _cell(i: int | None, means: np.ndarray, low: float, high: float, best: int) -> str:
    if i is None or not np.isfinite(means[i]):
        return "<td></td>"
    share = 1.0 if high <= low else min(max((means[i] - low) / (high - low), 0.0), 1.0)
    star = "★" if i == best else ""
    colour = f"rgba(10,107,87,{0.08 + 0.77 * share:.2f})"
    return f'<td style="background:{colour}" title="{means[i]:.6g}">{star}</td>'


def _order(value: Any) -> tuple[bool, Any]:
    """Numbers before everything else, which has no order of its own."""
    number = isinstance(value, int | float | np.number)
    return (not number, value if number else str(value))
