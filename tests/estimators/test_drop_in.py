"""Where GridSearchCV works KernelSearchCV works, and where it fails it fails alike."""

import copy
import pickle
import re
import threading
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.callback import ProgressBar
from sklearn.exceptions import FitFailedWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ParameterGrid, ShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from onefit import L2SVC, LSSVC, LSSVR, KernelSearchCV, RetrainingWarning, calibrated
from tests.oracles.grid_search import assert_same_search, both

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
RETRAINED = pytest.mark.filterwarnings("ignore::onefit.RetrainingWarning")


class TestFitParameters:
    @RETRAINED
    def test_estimators_whose_fit_returns_nothing(self, two_classes):
        class Silent(LogisticRegression):
            def fit(self, X, y):
                super().fit(X, y)

        assert_same_search(*both(Silent(), {"C": [0.1, 1.0]}, *two_classes, cv=3))

    @RETRAINED
    def test_other_than_weights(self, two_classes):
        X, y = two_classes
        searches = []
        for kind in (KernelSearchCV, GridSearchCV):  # training writes into coef_init
            parameters = {"coef_init": np.ones((1, X.shape[1])), "sample_weight": np.linspace(1, 2, len(y))}
            search = kind(SGDClassifier(random_state=0), {"alpha": [1e-3, 1e-2]}, cv=3)
            searches.append(search.fit(X, y, **parameters))
        fast, slow = searches
        assert_same_search(fast, slow)
        assert fast.oof_decision_.shape == (len(y),)

    @RETRAINED
    def test_decision_functions_that_are_scalars(self, two_classes):
        class Mock(ClassifierMixin, BaseEstimator):
            def __init__(self, threshold=0.0):
                self.threshold = threshold

            def fit(self, X, y):
                self.classes_ = np.unique(y)
                return self

            def predict(self, X):
                return self.classes_[(X[:, 0] > self.threshold).astype(int)]

            def decision_function(self, X):
                return 1.0

        fast, slow = both(Mock(), {"threshold": [0.0, 0.3]}, *two_classes, cv=3)
        assert_same_search(fast, slow)
        assert not hasattr(fast, "oof_decision_")


BAD = [
    (SVC(gamma=0.1), {"C": [0, 1]}),
    (SVC(gamma=0.1), {"C": [1, np.nan]}),
    (SVC(gamma=0.1), {"C": [1, "much"]}),
    (SVC(gamma=0.1), {"gamma": [0.1, -1]}),
    (SVC(gamma=0.1), {"gamma": ["scales", 0.1]}),
    (SVC(gamma=0.1), {"kernel": ["rbf", "rbff"]}),
    (SVC(gamma=0.1), {"tol": [1e-3, -1]}),
    (SVC(gamma=0.1), {"class_weight": [None, {7: 1.0}]}),
    (SVC(gamma=0.1), {"class_weight": [None, {"ant": 0, "bee": 1}]}),
    (L2SVC(gamma=0.1), {"C": [-1.0, 1]}),
    (L2SVC(gamma=0.1), {"class_weight": [None, "even"]}),
    (LSSVC(), {"alpha": [-1.0, 1.0]}),
    (LSSVC(), {"gamma": [-1.0, 1.0]}),
    (make_pipeline(StandardScaler(), SVC()), {"svc__C": [0, 1, 10]}),
]
BAD_REGRESSION = [
    (KernelRidge(), {"alpha": [1.0, -1.0]}),
    (KernelRidge(), {"alpha": [np.nan, 1.0]}),
    (KernelRidge(), {"alpha": ["much", 1.0]}),
    (KernelRidge(kernel="rbf"), {"gamma": [1.0, -1.0]}),
    (KernelRidge(), {"kernel": ["rbf", "rbff"]}),
    (LSSVR(), {"alpha": [1.0, None]}),
    (SVR(gamma=0.1, tol=1e-10), {"epsilon": [-1.0, 0.1]}),
    (SVR(gamma=0.1, tol=1e-10), {"C": [0.0, 1.0]}),
]


def outcome(search, X, y):
    """("fitted", search) or ("error", exception), and the categories of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = "fitted", search.fit(X, y)
        except Exception as error:
            found = "error", error
    return *found, {w.category for w in caught}


class TestOneBadCandidate:
    @pytest.mark.parametrize(("estimator", "grid"), BAD, ids=str)
    def test_of_a_classifier(self, two_classes, estimator, grid):
        self.check(estimator, grid, *two_classes)

    @pytest.mark.parametrize(("estimator", "grid"), BAD_REGRESSION, ids=str)
    def test_of_a_regressor(self, regression, estimator, grid):
        self.check(estimator, grid, *regression)

    def check(self, estimator, grid, X, y):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fast, slow = both(estimator, grid, X, y, cv=3, error_score=-7.0)
        failed = [w for w in caught if issubclass(w.category, FitFailedWarning)]
        count = len(ParameterGrid(grid))
        assert all(f"3 fits failed out of a total of {3 * count}" in str(w.message) for w in failed)
        assert len(failed) == 2  # of both searches
        assert_same_search(fast, slow, tolerance=1e-6 if isinstance(estimator, SVR) else 1e-8)  # LIBSVM's precision
        assert sorted(fast.cv_results_["exactness"]) == ["exact"] * (count - 1) + ["failed"]

    @pytest.mark.parametrize(("estimator", "grid"), BAD, ids=str)
    def test_raises_when_errors_are_to_be_raised(self, two_classes, estimator, grid):
        errors = []
        for kind in (KernelSearchCV, GridSearchCV):
            result, error, _ = outcome(kind(estimator, grid, cv=3, error_score="raise"), *two_classes)
            assert result == "error"
            errors.append((type(error), str(error)))
        assert errors[0] == errors[1]

    def test_all_of_them(self, two_classes):
        for grid in ({"C": [0, -1]}, {"gamma": [-1.0]}):
            texts = []
            for kind in (KernelSearchCV, GridSearchCV):
                result, error, _ = outcome(kind(SVC(), grid, cv=3), *two_classes)
                assert result == "error"
                assert isinstance(error, ValueError)
                texts.append(str(error))
            first = [text.strip().splitlines()[0] for text in texts]
            assert first[0] == first[1] == f"All the {3 * len(next(iter(grid.values())))} fits failed."
            assert texts[0].strip().splitlines()[-1] == texts[1].strip().splitlines()[-1]

    def test_with_a_criterion_that_needs_no_machine(self, two_classes):
        search = KernelSearchCV(SVC(), {"C": [0, 1], "gamma": [0.1, 1.0]}, criterion="ckta", cv=3)
        with pytest.warns(FitFailedWarning, match="C of SVC must be a finite positive number, got 0"):
            search.fit(*two_classes)
        assert search.cv_results_["exactness"].tolist()[:2] == ["failed"] * 2
        assert search.best_params_["C"] == 1
        with pytest.raises(ValueError, match="C of SVC must be"):
            search.set_params(error_score="raise").fit(*two_classes)

    def test_names_that_do_not_exist_end_the_search(self, two_classes):
        with pytest.raises(ValueError, match="Invalid parameter 'c'"):
            KernelSearchCV(SVC(), [{"C": [1]}, {"c": [1]}], cv=3).fit(*two_classes)

    @pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
    def test_a_transformer_that_fails_on_one_fold(self, two_classes):
        X, y = two_classes
        X = X.copy()
        X[0, 0] = np.inf  # a test row of the first fold, a training row of the others
        pipe = make_pipeline(StandardScaler(), SVC())
        found = [outcome(kind(pipe, {"svc__C": [0.1, 1]}, cv=3, refit=False), X, y)[1:]
                 for kind in (KernelSearchCV, GridSearchCV)]  # fmt: skip
        (fast, ours), (slow, theirs) = found
        assert_same_search(fast, slow)
        assert FitFailedWarning in ours & theirs


class TestRetrainedInsteadOfRefused:
    @pytest.mark.parametrize(
        ("estimator", "grid", "reason"),
        [
            (SVC(C=np.inf), {"gamma": [1e-3, 0.1]}, "C is infinite"),
            (SVR(), {"C": [np.inf]}, "C is infinite"),
            (SVC(probability=True, random_state=0), {"C": [0.1, 1.0]}, r"onefit\.calibrated"),
            (SVC(), {"class_weight": [{0: 0, 1: 0}]}, "weights that are not positive"),
        ],
        ids=str,
    )
    @pytest.mark.filterwarnings("ignore::FutureWarning")
    def test_parameters(self, two_classes, estimator, grid, reason):
        X, y = two_classes
        rows = np.r_[0:8, 40:48] if not isinstance(estimator, SVC) or np.isinf(estimator.C) else np.arange(len(y))
        X, y = X[rows], (y[rows] == y[0]).astype(int)
        with pytest.warns(RetrainingWarning, match=reason):
            fast, slow = both(estimator, grid, X, y, cv=2)
        assert_same_search(fast, slow)
        assert set(fast.cv_results_["exactness"]) == {"retrained"}

    def test_what_only_we_find_wrong(self, regression):
        """scikit-learn takes more penalties than there are targets."""
        with pytest.warns(RetrainingWarning, match="alpha has 2 values for 1 targets"):
            fast, slow = both(KernelRidge(), {"alpha": [[1.0, 2.0], 1.0]}, *regression, cv=3)
        assert_same_search(fast, slow)
        assert fast.cv_results_["exactness"].tolist() == ["retrained", "exact"]

    def test_negative_weights(self, two_classes):
        X, y = two_classes
        balanced = make_scorer(lambda y, p: balanced_accuracy_score(y, p))  # without weights
        weights = {"sample_weight": np.where(np.arange(len(y)) % 7 == 0, -1.0, 1.0)}
        with pytest.warns(RetrainingWarning, match="sample_weight has negative values"):
            fast, slow = both(SVC(), {"C": [0.1, 1.0]}, X, y, fit_params=weights, cv=3, scoring=balanced)
        assert_same_search(fast, slow)
        assert set(fast.cv_results_["exactness"]) == {"retrained"}

    def test_a_class_that_weighs_nothing(self, two_classes):
        X, y = two_classes[0], (two_classes[1] == "bee").astype(int)
        found = [outcome(kind(SVC(class_weight={0: 0, 1: 1}), {"C": [0.1, 1]}, cv=3), X, y)
                 for kind in (KernelSearchCV, GridSearchCV)]  # fmt: skip
        assert [result for result, *_ in found] == ["error", "error"]
        lines = [str(error).strip().splitlines() for _, error, _ in found]
        assert (lines[0][0], lines[0][-1]) == (lines[1][0], lines[1][-1])


class TestPrinting:
    @pytest.mark.parametrize("verbose", [0, 1, 2, 3, 10])
    @pytest.mark.parametrize(
        "options", [{}, {"return_train_score": True}, {"scoring": ["accuracy", "f1_macro"], "refit": "accuracy"},
                    {"scoring": ["accuracy", "f1_macro"], "refit": False, "return_train_score": True}], ids=str,
    )  # fmt: skip
    @pytest.mark.parametrize("estimator", [SVC(tol=1e-8), LogisticRegression()], ids=str)
    @RETRAINED
    @pytest.mark.quick(8)
    def test_is_that_of_grid_search(self, two_classes, capsys, estimator, options, verbose):
        grid = {"C": [0.1, 1.0], "gamma": [0.1, 1.0]} if isinstance(estimator, SVC) else {"C": [0.1, 1.0]}
        printed = []
        for kind in (KernelSearchCV, GridSearchCV):
            kind(estimator, grid, cv=3, verbose=verbose, **options).fit(*two_classes)
            out = re.sub(r"\.*C=", " C=", capsys.readouterr().out)  # the dots follow the times
            printed.append(sorted(re.sub(r"total time=.*", "total time", out).splitlines()))
        assert printed[0] == printed[1]

    def test_a_candidate_that_fails(self, two_classes, capsys):
        with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
            KernelSearchCV(SVC(), {"C": [0, 1.0]}, cv=2, verbose=3).fit(*two_classes)
        lines = capsys.readouterr().out.splitlines()
        assert sum("C=0;, score=nan total time=" in line for line in lines) == 2
        assert sum("C=1.0;, score=0." in line for line in lines) == 2

    @pytest.mark.parametrize("estimator", [LSSVR(), Ridge()], ids=str)
    @RETRAINED
    def test_leave_one_out_has_one_line_per_candidate(self, regression, capsys, estimator):
        options = {"cv": LeaveOneOut(), "scoring": "neg_mean_squared_error", "verbose": 3}
        KernelSearchCV(estimator, {"alpha": [0.1, 1.0]}, **options).fit(*regression)
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "Fitting 80 folds for each of 2 candidates, totalling 160 fits"
        assert len(lines) == 3


class Recorder:
    """A callback that remembers the tasks that it was told of."""

    def __init__(self):
        self.begun, self.ended, self.totals, self.rows = [], [], {}, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, *, X, y, metadata):
        self.begun.append((context.task_name, context.task_id))
        self.totals[context.task_name] = context.max_subtasks
        self.rows.append((context.task_name, len(X), len(y), metadata) if X is not None else None)

    def on_fit_task_end(self, estimator, context, *, X, y, metadata):
        self.ended.append((context.task_name, context.task_id))


class TestCallbacks:
    @pytest.mark.parametrize(
        ("estimator", "grid"),
        [
            (SVC(), {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}),
            (SVC(), [{"C": [0.1, 1.0]}, {"C": [0], "gamma": [0.5, -1.0]}]),
            (SVC(), [{"C": [0.1, 1.0]}, {"max_iter": [5, 10]}]),
            (SVC(kernel="linear"), {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}),
            (LinearSVC(), {"C": [0.1, 1.0]}),
        ],
        ids=["fast", "bad", "mixed", "repeated", "retrained"],
    )
    @pytest.mark.filterwarnings("ignore")
    def test_see_the_tasks_of_grid_search(self, two_classes, estimator, grid):
        X, y = two_classes
        weights = np.linspace(1, 2, len(y))
        recorders = Recorder(), Recorder()
        for kind, recorder in zip((KernelSearchCV, GridSearchCV), recorders):
            kind(estimator, grid, cv=3).set_callbacks(recorder).fit(X, y, sample_weight=weights)
        ours, theirs = recorders
        assert sorted(ours.begun) == sorted(theirs.begun)
        assert sorted(ours.ended) == sorted(theirs.ended)
        assert ours.totals == theirs.totals
        sizes = [sorted((name, n, m) for name, n, m, _ in filter(None, r.rows)) for r in recorders]
        assert sizes[0] == sizes[1]
        assert all(len(metadata["sample_weight"]) == n for name, n, _, metadata in filter(None, ours.rows))

    @pytest.mark.parametrize(
        "options", [{"screen": ("ckta", 1)}, {"cv": LeaveOneOut()}, {"time_budget": "1ms"}], ids=str
    )
    @pytest.mark.filterwarnings("ignore::onefit.TimeBudgetWarning")
    def test_all_tasks_end(self, two_classes, options):
        recorder = Recorder()
        grid = {"C": [0.1, 1.0], "gamma": [0.1, 1.0, 10.0]}
        KernelSearchCV(SVC(), grid, **{"cv": 3, **options}).set_callbacks(recorder).fit(*two_classes)
        done = [task for name, task in recorder.ended if name == "candidate-split-evaluation"]
        assert sorted(done) == list(range(recorder.totals["search"]))
        assert len(done) == (6 if isinstance(options.get("cv"), LeaveOneOut) else 18)

    def test_progress_bar(self, two_classes, capsys):
        pytest.importorskip("rich")
        KernelSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=3).set_callbacks(ProgressBar()).fit(*two_classes)
        assert "100%" in capsys.readouterr().out


class Counted(LogisticRegression):
    """Counts how often it is trained."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


@RETRAINED
class TestOutOfFoldValuesOfTheRetrained:
    @pytest.fixture
    def search(self, two_classes):
        Counted.fits = 0
        return KernelSearchCV(Counted(), {"C": [0.1, 1.0]}, cv=3).fit(*two_classes)

    def test_are_computed_when_they_are_asked_for(self, search, two_classes):
        assert Counted.fits == 2 * 3 + 1  # and the refit
        search._repr_html_()
        assert Counted.fits == 7
        expected = cross_val_predict(LogisticRegression(**search.best_params_), *two_classes, cv=3,
                                     method="decision_function")  # fmt: skip
        np.testing.assert_allclose(search.oof_decision_, expected)
        assert Counted.fits == 7 + 3
        assert search.oof_decision_ is search.oof_decision_
        assert Counted.fits == 7 + 3
        assert search.ledger_["fit"] == 6 + 3

    def test_calibration_asks_for_them(self, search, two_classes):
        probabilities = calibrated(search).predict_proba(two_classes[0])
        assert probabilities.shape == (len(two_classes[0]), 2)

    @pytest.mark.parametrize("copied", [lambda s: pickle.loads(pickle.dumps(s)), copy.deepcopy], ids=["pickle", "copy"])
    def test_do_not_travel_with_the_data(self, search, two_classes, copied):
        again = copied(search)
        assert not hasattr(again, "oof_decision_")
        with pytest.raises(AttributeError, match=r"onefit\.cross_val_decision"):
            again.oof_decision_  # noqa: B018
        np.testing.assert_array_equal(again.predict(two_classes[0]), search.predict(two_classes[0]))
        assert len(pickle.dumps(search)) < len(pickle.dumps(copied(search))) + 1000
        values = search.oof_decision_
        np.testing.assert_array_equal(copied(search).oof_decision_, values)

    def test_are_those_of_the_last_fit(self, search, three_classes):
        assert not hasattr(clone(search), "oof_decision_")
        search.fit(*three_classes)
        assert search.oof_decision_.shape == (len(three_classes[1]), 3)
        search.set_params(param_grid={"C": [-1.0]})
        with pytest.raises(ValueError, match="All the 3 fits failed"):
            search.fit(*three_classes)
        assert not hasattr(search, "oof_decision_")

    def test_missing_attributes_have_scikit_learns_messages(self, search):
        fresh = KernelSearchCV(SVC(), {"C": [1.0]})
        for name in ("n_features_in_", "score_samples", "nonsense"):
            with pytest.raises(AttributeError) as ours:
                getattr(fresh, name)
            with pytest.raises(AttributeError) as theirs:
                getattr(GridSearchCV(SVC(), {"C": [1.0]}), name)
            assert str(ours.value) == str(theirs.value).replace("GridSearchCV", "KernelSearchCV")


@RETRAINED
def test_retrained_candidates_share_the_workers(two_classes):
    """Two candidates with one split each are trained at the same time: each waits for the other."""
    meeting = threading.Barrier(2, timeout=30)

    class Waiting(LogisticRegression):
        def fit(self, X, y):
            meeting.wait()
            return super().fit(X, y)

    search = KernelSearchCV(Waiting(), {"C": [0.1, 1.0]}, cv=ShuffleSplit(1, random_state=0), refit=False, n_jobs=2)
    with parallel_config(backend="threading"):
        search.fit(*two_classes)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
