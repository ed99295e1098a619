"""A search as a page: one HTML file that needs nothing else, and displays for notebooks and matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from .._public import publish
from .judgement import Judgement, Yardstick

__all__ = ["Judgement", "Shown", "Yardstick", "show", "write"]


def write(
    search: Any,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    X: Any = None,
    y: Any = None,
    comparison: Any = None,
    remark: str | None = None,
    judgement: Judgement | None = None,
    groups: Any = None,
    feature_names: Sequence[str] | None = None,
    column_kinds: Sequence[str] | None = None,
    positive: Any = None,
    code: str | None = None,
    thorough: bool = True,
) -> Path:
    """Write the report of a fitted search, one HTML file that loads nothing from elsewhere.

    Parameters
    ----------
    search : KernelSearchCV or KernelLearnCV
        A fitted search, or one that was interrupted and has rows. Of a learned kernel the report shows the path, what
        was learned and, with X, old rows or new ones, which of these are far outside of the training rows; other
        arguments than ``title`` and ``feature_names`` are not read.
    path : path-like
        Where to write; an existing file is replaced.
    title : str, default=None
        The heading, such as the name of the data.
    X, y : default=None
        The data that the search was fitted on. The search does not keep them; with them the report also shows the
        kernel's matrix, spectrum and stability, and of a regression the out-of-fold predictions.
    comparison : Comparison, default=None
        What ``onefit.compare`` returned for the same data.
    remark : str, default=None
        A sentence to be shown with the answer.
    judgement : Judgement, default=None
        The chosen model's score as it was computed anew, and what it is compared with; shown in place of the search's.
    groups : array-like, default=None
        The groups that the search was fitted with.
    feature_names, column_kinds : sequences of str, default=None
        Names of the columns of X, by default those of a frame, and what each of them is.
    positive : label, default=None
        Of two classes, the one that thresholds are about; the last one by default.
    code : str, default=None
        Python code that rebuilds the model, to be copied.
    thorough : bool, default=True
        Also compute, from X and y, how sure the choice is (a paired bootstrap of the best candidates' out-of-fold
        losses), a learning curve and the importance of the columns: a few seconds for a few thousand rows.

    Returns
    -------
    Path
        Where the report is.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from onefit import KernelSearchCV, report
    >>> X, y = load_iris(return_X_y=True)
    >>> search = KernelSearchCV(SVC(), {"gamma": [0.01, 0.1, 1], "C": [0.1, 1, 10]}, cv=5).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report.write(search, pathlib.Path(folder) / "iris.html", title="Iris", X=X, y=y).read_text()
    >>> page.startswith("<!doctype html>"), "0.1" in page
    (True, True)
    """
    target = Path(path)
    page = _page(
        search, title=title, X=X, y=y, comparison=comparison, remark=remark, judgement=judgement, groups=groups,
        feature_names=feature_names, column_kinds=column_kinds, positive=positive, code=code, thorough=thorough,
    )  # fmt: skip
    target.write_text(page, encoding="utf-8")
    return target


def show(search: Any, **arguments: Any) -> Shown:
    """The report of a fitted search for a notebook, which draws what this returns; arguments as in ``write``.

    Parameters
    ----------
    search : KernelSearchCV or KernelLearnCV
        A fitted search, or one that was interrupted and has rows.
    **arguments
        As in ``write``.

    Returns
    -------
    Shown
        The report, drawn by notebooks.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from onefit import KernelSearchCV, report
    >>> X, y = load_iris(return_X_y=True)
    >>> search = KernelSearchCV(SVC(), {"gamma": [0.01, 0.1, 1], "C": [0.1, 1, 10]}, cv=5).fit(X, y)
    >>> report.show(search, title="Iris").page.startswith("<!doctype html>")
    True
    """
    return Shown(_page(search, **arguments))


def _page(search: Any, **arguments: Any) -> str:
    """The report as HTML. Its parts are imported here: ``onefit select`` answers sooner without them."""
    from ..estimators.kernel_learn import KernelLearnCV

    if isinstance(search, KernelLearnCV):
        from .learning_page import gather_learned, render_learned

        read = {name: arguments[name] for name in ("title", "X", "feature_names") if name in arguments}
        return render_learned(gather_learned(search, **read))
    from .facts import gather
    from .page import render

    return render(gather(search, **arguments))


@dataclass(frozen=True)
class Shown:
    """A report in a frame of its own, so that its style and the notebook's do not meet.

    Parameters
    ----------
    page : str
        The report as HTML.
    height : int, default=720
        Height of the frame in pixels.

    Examples
    --------
    >>> from onefit.report import Shown
    >>> Shown("<p>report</p>")
    <onefit report, 13 characters: shown by notebooks, saved by onefit.report.write>
    """

    page: str
    height: int = 720

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="onefit report" srcdoc="{escape(self.page)}" sandbox="allow-scripts" '
            f'style="width:100%;height:{self.height}px;border:1px solid #8884;border-radius:6px"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<onefit report, {len(self.page):,} characters: shown by notebooks, saved by onefit.report.write>"


__dir__ = publish(__name__)
