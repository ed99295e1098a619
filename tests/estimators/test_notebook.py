"""What notebooks show of a search: its numbers, escaped, and nothing that is loaded."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.callback import ProgressBar
from sklearn.svm import SVC

from onefit import LSSVC, KernelSearchCV


@pytest.fixture
def search(two_classes):
    return KernelSearchCV(LSSVC(), {"gamma": [0.1, 1.0, 10.0], "alpha": [0.1, 1.0]}, cv=4).fit(*two_classes)


def test_a_fitted_search_shows_its_answer(search):
    text = search._repr_html_()
    error = search.cv_results_["std_test_score"][search.best_index_] / np.sqrt(3)
    assert f"{search.best_score_:.4g} ± {error:.2g} (standard error over 4 folds)" in text
    assert "exact (of all candidates: 6 exact)" in text
    assert "in place of 24 trainings" in text
    assert text.count("<td style") == 6
    assert text.count("★") == 1
    assert search._repr_mimebundle_()["text/html"].startswith('<div class="onefit-summary">')
    with config_context(display="text"):
        assert "text/html" not in search._repr_mimebundle_()


def test_searches_without_a_plane_of_parameters(two_classes):
    for grid in ({"alpha": [0.1, 1.0]}, {"kernel": ["linear", "rbf"], "alpha": [1.0]}):
        text = KernelSearchCV(LSSVC(), grid, cv=3).fit(*two_classes)._repr_html_()
        assert "onefit-summary" in text
        assert "<td style" not in text
    mixed = [{"kernel": ["rbf"], "gamma": [0.1, 1.0], "alpha": [0.1, 1.0]}, {"kernel": ["linear"], "alpha": [0.1]}]
    assert KernelSearchCV(LSSVC(), mixed, cv=3).fit(*two_classes)._repr_html_().count("★") <= 1


def test_what_is_not_fitted_shows_its_diagram_only():
    assert "onefit-summary" not in KernelSearchCV(SVC(), {"C": [1.0]})._repr_html_()


def test_several_scores(two_classes):
    search = KernelSearchCV(LSSVC(), {"alpha": [0.1, 1.0]}, scoring=["accuracy", "roc_auc"], refit="roc_auc", cv=3)
    assert "<dt>roc_auc</dt>" in search.fit(*two_classes)._repr_html_()


def test_the_ledger_is_readable(search):
    assert repr(search.ledger_).startswith("<Ledger base: 1 (")
    assert f"<td>{search.ledger_['gram']}</td>" in search.ledger_._repr_html_()


def test_the_progress_bar_of_scikit_learn(two_classes, capsys):
    pytest.importorskip("rich")
    search = KernelSearchCV(LSSVC(), {"alpha": [0.1, 1.0]}, cv=3)
    with pytest.warns(UserWarning, match="does not support callbacks"):
        search.set_callbacks(ProgressBar()).fit(*two_classes)
    assert "KernelSearchCV - fit" in capsys.readouterr().out
