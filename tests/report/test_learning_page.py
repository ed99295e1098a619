"""The report of a learned kernel."""

import numpy as np
import pytest

from onefit import LSSVR, KernelLearnCV, report
from onefit.kernels import ARD, Gaussian, Linear, WeightedSum

pytest.importorskip("jinja2")


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[7, 1] = 50.0
    return X, np.sin(2 * X[:, 0])


@pytest.mark.parametrize("kernel", [ARD(Gaussian()), WeightedSum([Gaussian(0.1), Linear()])], ids=str)
def test_a_page_has_the_path_what_was_learned_and_far_rows(tmp_path, kernel):
    X, y = problem()
    search = KernelLearnCV(LSSVR(), kernel, max_iter=2, outer_cv=2, cv=2).fit(X, y)
    names = ["age", "<income>", "height"]
    page = report.write(search, tmp_path / "page.html", title="A & B", X=X, feature_names=names).read_text("utf-8")
    assert "<title>A &amp; B" in page
    assert f"Step {search.best_index_} of {search.n_iter_ - 1}" in page
    assert "&lt;income&gt;: 1" in page
    assert "<income>" not in page
    assert page.count("<tr>") == 1 + search.n_iter_
    assert ("Scale that" in page) == isinstance(kernel, ARD)
    assert ("Weight of a kernel" in page) == isinstance(kernel, WeightedSum)
    assert "srcdoc" in report.show(search)._repr_html_()


def test_without_outer_folds_the_page_says_so(tmp_path):
    X, y = problem()
    search = KernelLearnCV(LSSVR(), ARD(Gaussian()), stop=None, max_iter=1).fit(X, y)
    page = report.write(search, tmp_path / "page.html").read_text("utf-8")
    assert "no outer folds say" in page
    assert "far outside" not in page
