"""Searches by criteria: the same values as on a Gram matrix, shared work, columns, screening, chosen parameters."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import L2SVC, LSSVC, LSSVR, KernelSearchCV, criteria

from ..oracles import criteria as oracle

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
GAMMAS, ALPHAS, COSTS = [0.01, 0.1, 1.0, 10.0], [0.01, 0.1, 1.0], [0.1, 1.0, 10.0]
REGRESSION = ("loo", "alo", "gcv", "rks", "cvks", "sps", "er", "lml", "br", "kta", "ckta", "pep", "bif")
MARGIN = ("rks", "cvks", "span", "xi_alpha", "gacv", "sm", "kta", "ckta", "fsm", "pep")


def direct(criterion, X, y, model, params, cv):
    """The value on the Gram matrix of one candidate."""
    model = type(model)(**{**model.get_params(), "kernel": "precomputed"})
    model.set_params(**{name: value for name, value in params.items() if name != "gamma"})
    return criteria.resolve(criterion)(rbf_kernel(X, gamma=params["gamma"]), y, model, cv=cv)


def assert_columns_are_direct_values(search, names, X, y, model, cv):
    for name in names:
        for params, value in zip(search.cv_results_["params"], search.cv_results_[f"criterion_{name}"]):
            expected = direct(name, X, y, model, params, cv)
            if name == "br":  # the kernel of the search has a parameter
                theta = np.log(params["gamma"])
                expected += 0.5 * np.log(max(theta**2 / 2, 0.5e-4))
            assert value == pytest.approx(expected, rel=1e-8), (name, params)


def test_columns_of_a_regression(regression):
    X, y = regression
    cv, model = KFold(4), KernelRidge(kernel="rbf")
    grid = {"gamma": GAMMAS, "alpha": ALPHAS}
    search = KernelSearchCV(model, grid, criterion=["cv", *REGRESSION], cv=cv).fit(X, y)
    assert_columns_are_direct_values(search, REGRESSION, X, y, model, cv)
    plain = KernelSearchCV(model, grid, cv=cv).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-8)
    assert search.best_params_ == plain.best_params_
    assert not any(key.startswith("criterion_") for key in plain.cv_results_)


@pytest.mark.parametrize("model", [LSSVC(kernel="rbf"), LSSVC(kernel="rbf", class_weight="balanced")], ids=str)
def test_columns_of_several_classes(three_classes, model):
    X, y = three_classes
    cv, names = StratifiedKFold(4), ("cv", "loo", "gcv", "rks", "cvks", "sps", "er", "sm", "kta", "ckta", "fsm")
    search = KernelSearchCV(model, {"gamma": GAMMAS, "alpha": ALPHAS}, criterion=["bif", *names], cv=cv).fit(X, y)
    assert_columns_are_direct_values(search, names, X, y, model, cv)


@pytest.mark.parametrize("model", [SVC(), SVC(class_weight="balanced"), L2SVC()], ids=str)
def test_columns_of_a_support_vector_machine(two_classes, model):
    X, y = two_classes
    names = (*MARGIN, "bif") if isinstance(model, SVC) else ("rks", "cvks", "span", "radius_margin", "sm")
    cv = StratifiedKFold(4)
    search = KernelSearchCV(model, {"gamma": GAMMAS, "C": COSTS}, criterion=["cv", *names], cv=cv).fit(X, y)
    assert_columns_are_direct_values(search, names, X, y, model, cv)


@pytest.mark.parametrize("name", ["gcv", "lml", "ckta", "cvks"])
def test_a_criterion_selects(regression, name):
    X, y = regression
    model, cv = KernelRidge(kernel="rbf"), KFold(4)
    search = KernelSearchCV(model, {"gamma": GAMMAS, "alpha": ALPHAS}, criterion=[name, "pep"], cv=cv).fit(X, y)
    results = search.cv_results_
    values = np.array([direct(name, X, y, model, params, cv) for params in results["params"]])
    sign = 1 if criteria.resolve(name).greater_is_better else -1
    np.testing.assert_allclose(results["mean_test_score"], sign * values, rtol=1e-8)
    np.testing.assert_allclose(results[f"criterion_{name}"], values, rtol=1e-8)
    assert search.best_index_ == int(np.argmax(sign * values))
    assert search.best_score_ == results["mean_test_score"][search.best_index_]
    assert results["rank_test_score"][search.best_index_] == 1
    assert not any(key.startswith("split") for key in results)
    assert (results["std_test_score"] == 0).all()
    assert not hasattr(search, "oof_decision_")
    assert search.predict(X).shape == y.shape
    assert "criterion_pep" in results


def test_one_eigendecomposition_per_kernel(regression):
    X, y = regression
    names = ["cv", "loo", "gcv", "rks", "cvks", "sps", "er", "pep", "lml", "br"]
    for alphas in ([0.1], ALPHAS):  # a single penalty would do without any
        grid = {"gamma": GAMMAS, "alpha": alphas}
        search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, criterion=names).fit(X, y)
        assert search.ledger_["eigendecomposition"] <= len(GAMMAS)
        assert search.ledger_["gram"] == len(GAMMAS)
        assert search.ledger_["cholesky"] == 0
        assert search.ledger_["base"] == 1


def test_no_factorisation_without_a_fit(two_classes):
    X, y = two_classes
    grid = {"gamma": GAMMAS, "alpha": ALPHAS}
    search = KernelSearchCV(LSSVC(kernel="rbf"), grid, criterion=["sm", "kta", "ckta", "fsm"], refit=False).fit(X, y)
    ledger = search.ledger_
    assert (ledger["gram"], ledger["base"]) == (len(GAMMAS), 1)
    for event in ("eigendecomposition", "cholesky", "heldout", "fit", "full solution"):
        assert ledger[event] == 0


def test_criteria_of_the_kernel_are_evaluated_once_for_all_of_its_machines(two_classes, monkeypatch):
    asked = []
    path = criteria.SM.path
    monkeypatch.setattr(criteria.SM, "path", lambda self, evidence: asked.append(1) or path(self, evidence))
    grid = {"gamma": GAMMAS, "C": COSTS, "class_weight": [None, "balanced"]}
    KernelSearchCV(SVC(), grid, criterion=["cv", "sm"], cv=3).fit(*two_classes)
    assert len(asked) == len(GAMMAS)


def test_margin_criteria_train_once_for_each_candidate(two_classes):
    X, y = two_classes
    grid = {"gamma": GAMMAS, "C": COSTS}
    search = KernelSearchCV(SVC(), grid, criterion=["span", "xi_alpha", "gacv", "rks"], refit=False).fit(X, y)
    assert search.ledger_["full solution"] == len(GAMMAS) * len(COSTS)
    assert search.ledger_["fold solution"] == 0


def test_transformers_learn_from_all_rows(two_classes):
    X, y = two_classes
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__gamma": [0.1, 1.0, "scale"], "svc__C": COSTS}
    search = KernelSearchCV(model, grid, criterion=["cv", "sm", "span"], cv=4).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    for params, sm, span in zip(
        search.cv_results_["params"], search.cv_results_["criterion_sm"], search.cv_results_["criterion_span"]
    ):
        gamma = 1 / (scaled.shape[1] * scaled.var()) if params["svc__gamma"] == "scale" else params["svc__gamma"]
        K = rbf_kernel(scaled, gamma=gamma)
        assert sm == pytest.approx(criteria.SM()(K, y), rel=1e-9)
        assert span == pytest.approx(criteria.Span()(K, y, SVC(kernel="precomputed", C=params["svc__C"])))
    reference = GridSearchCV(model, grid, cv=4).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], reference.cv_results_["mean_test_score"])
    alone = KernelSearchCV(model, grid, criterion="sm", cv=4, refit=False).fit(X, y)
    assert alone.ledger_["base"] == 1  # no fold was ever scaled


def test_sample_weights_reach_the_fit(regression):
    X, y = regression
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    search = KernelSearchCV(LSSVR(kernel="rbf", gamma=0.3), {"alpha": [0.2]}, criterion=["gcv", "loo", "rks"])
    results = search.fit(X, y, sample_weight=weights).cv_results_
    K, Y = rbf_kernel(X, gamma=0.3), y[:, None]
    expected = oracle.generalised_cross_validation(K, Y, 0.2, weights, True)
    assert results["criterion_gcv"][0] == pytest.approx(expected, rel=1e-9)
    left_out = ((Y - oracle.left_out(K, Y, 0.2, weights, True)) ** 2).mean()
    assert results["criterion_loo"][0] == pytest.approx(left_out, rel=1e-9)
    weights[3] = 0.0
    with pytest.raises(ValueError, match="positive weights"):
        search.fit(X, y, sample_weight=weights)


class TestRefusals:
    """Combinations that are not defined are errors before any work, which name those that are."""

    @pytest.mark.parametrize(
        ("model", "criterion", "valid"),
        [
            (SVC(), "gcv", "KernelRidge, LSSVC, LSSVR"),
            (SVC(), "radius_margin", "L2SVC"),
            (L2SVC(), "xi_alpha", "SVC"),
            (LSSVC(), "span", "SVC, HingeSVC, L2SVC"),
            (LSSVC(), ["cv", "sm", "gacv"], "SVC"),
            (LSSVC(), "lml", "without bias"),
        ],
    )
    def test_learners(self, two_classes, model, criterion, valid):
        search = KernelSearchCV(model, [{}], criterion=criterion)
        with pytest.raises(ValueError, match=valid):
            search.fit(*two_classes)

    def test_targets(self, regression, three_classes):
        with pytest.raises(ValueError, match="needs classes"):
            KernelSearchCV(KernelRidge(), [{}], criterion="sm").fit(*regression)
        with pytest.raises(ValueError, match="two classes"):
            KernelSearchCV(SVC(), [{}], criterion="span").fit(*three_classes)

    def test_unknown_criteria(self, regression):
        with pytest.raises(ValueError, match="Unknown criterion 'x'"):
            KernelSearchCV(KernelRidge(), [{}], criterion=["cv", "x"]).fit(*regression)
        with pytest.raises(ValueError, match="empty list"):
            KernelSearchCV(KernelRidge(), [{}], criterion=[]).fit(*regression)

    def test_kernels_that_are_not_known(self, two_classes):
        search = KernelSearchCV(SVC(max_iter=5), [{}], criterion="sm")
        with pytest.raises(ValueError, match="reads kernels"):
            search.fit(*two_classes)

    def test_several_metrics(self, regression):
        search = KernelSearchCV(KernelRidge(), [{}], criterion="gcv", scoring=["r2", "neg_max_error"], refit="r2")
        with pytest.raises(ValueError, match="selects by itself"):
            search.fit(*regression)

    @pytest.mark.parametrize("screen", ["sm", ("sm",), ("sm", 0), ("sm", 1.5), ("gcv", 3), ("x", 2), ("sm", True)])
    def test_screens(self, two_classes, screen):
        with pytest.raises(ValueError, match=r"screen|Unknown criterion"):
            KernelSearchCV(LSSVC(), {"gamma": GAMMAS}, screen=screen).fit(*two_classes)


class TestUndefinedValues:
    """A criterion without a value for some kernel."""

    grid = ({"kernel": ["rbf"], "gamma": [1.0]}, {"kernel": ["linear"]})

    def test_of_a_column_is_nan_with_a_reason(self, two_classes):
        X, y = two_classes
        search = KernelSearchCV(SVC(), self.grid, criterion=["cv", "sm"]).fit(X, y)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert np.isnan(search.cv_results_["criterion_sm"]).tolist() == [False, True]
        assert "negative entries" in search.cv_results_["status"][1]
        assert search.cv_results_["status"][0] == "ok"

    def test_of_the_selecting_criterion_is_a_failure(self, two_classes):
        X, y = two_classes
        with pytest.warns(Warning, match="negative entries"):
            search = KernelSearchCV(SVC(), self.grid, criterion="sm").fit(X, y)
        assert search.cv_results_["exactness"].tolist() == ["approximate", "failed"]
        assert search.best_index_ == 0
        with pytest.raises(ValueError, match="negative entries"):
            KernelSearchCV(SVC(), self.grid, criterion="sm", error_score="raise").fit(X, y)


def test_folds_of_one_class_have_no_value():
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.repeat([0, 1], 6)
    splits = [(np.arange(6), np.arange(6, 12)), (np.arange(0, 12, 2), np.arange(1, 12, 2))]
    for model in (LSSVC(), SVC()):
        search = KernelSearchCV(model, {"gamma": [0.1, 1.0]}, criterion=["sm", "cvks", "cv"], cv=splits).fit(X, y)
        assert np.isnan(search.cv_results_["criterion_cvks"]).all()
        assert np.isnan(search.cv_results_["criterion_cv"]).all()
        assert all("one class only" in status for status in search.cv_results_["status"])
        precomputed = type(model)(kernel="precomputed")
        with pytest.raises(ValueError, match="one class only"):
            criteria.CVKS()(rbf_kernel(X), y, precomputed, cv=splits)


def test_kernels_that_are_not_positive_are_no_candidates_of_margin_criteria(two_classes):
    X, y = two_classes
    grid = [{"kernel": ["sigmoid"], "gamma": [2.0], "coef0": [-1.0]}, {"kernel": ["rbf"], "gamma": [0.5]}]
    with pytest.warns(Warning, match="positive semi-definite"):
        search = KernelSearchCV(SVC(), grid, criterion="span").fit(X, y)
    assert search.cv_results_["exactness"].tolist() == ["failed", "approximate"]
    assert search.best_index_ == 1
    with pytest.warns(Warning, match="retrained"):
        search = KernelSearchCV(SVC(), grid, criterion=["cv", "span"]).fit(X, y)
    assert search.cv_results_["exactness"].tolist() == ["retrained", "exact"]
    assert np.isnan(search.cv_results_["criterion_span"]).tolist() == [True, False]


class TestScreening:
    """Only the best kernels are cross-validated."""

    def test_the_best_kernels_are_kept(self, two_classes):
        X, y = two_classes
        grid = {"gamma": GAMMAS, "C": COSTS}
        full = KernelSearchCV(SVC(), grid, cv=4).fit(X, y)
        search = KernelSearchCV(SVC(), grid, screen=("ckta", 2), cv=4).fit(X, y)
        values = {gamma: criteria.CKTA()(rbf_kernel(X, gamma=gamma), y) for gamma in GAMMAS}
        best = sorted(values, key=values.get)[-2:]
        for k, params in enumerate(search.cv_results_["params"]):
            kept = params["gamma"] in best
            assert search.cv_results_["exactness"][k] == ("exact" if kept else "pruned")
            assert search.cv_results_["criterion_ckta"][k] == pytest.approx(values[params["gamma"]], rel=1e-9)
            score = search.cv_results_["mean_test_score"][k]
            assert score == full.cv_results_["mean_test_score"][k] if kept else np.isnan(score)
        assert search.best_params_["gamma"] in best
        assert search.ledger_["base"] == 1
        assert search.ledger_["heldout"] == 2

    def test_nothing_is_screened_if_all_are_kept(self, two_classes):
        X, y = two_classes
        search = KernelSearchCV(SVC(), {"gamma": GAMMAS}, screen=("sm", 4), cv=4).fit(X, y)
        assert set(search.cv_results_["exactness"]) == {"exact"}

        assert "criterion_sm" not in search.cv_results_

    def test_another_criterion_of_the_same_name_has_its_own_column(self, two_classes):
        X, y = two_classes
        grid, fifth = {"gamma": GAMMAS}, criteria.SM(degree=5)
        values = KernelSearchCV(SVC(), grid, criterion=["sm", fifth], cv=4).fit(X, y).cv_results_
        search = KernelSearchCV(SVC(), grid, criterion=["cv", "sm"], screen=(fifth, 2), cv=4).fit(X, y)
        kept = search.cv_results_["exactness"] == "exact"
        assert kept.sum() == 2
        np.testing.assert_allclose(
            search.cv_results_["criterion_sm"], np.where(kept, values["criterion_sm"], np.nan), rtol=1e-9
        )
        np.testing.assert_allclose(search.cv_results_["criterion_sm_2"], values["criterion_sm_2"], rtol=1e-9)
        same = KernelSearchCV(SVC(), grid, criterion=["cv", "kta", fifth], screen=(fifth, 2), cv=4).fit(X, y)
        np.testing.assert_allclose(same.cv_results_["criterion_sm"], values["criterion_sm_2"], rtol=1e-9)
        assert "criterion_sm_2" not in same.cv_results_

    def test_with_train_scores_and_a_column(self, two_classes):
        X, y = two_classes
        search = KernelSearchCV(
            LSSVC(), {"gamma": GAMMAS}, screen=("sm", 2), criterion=["cv", "gcv"], cv=4, return_train_score=True
        ).fit(X, y)
        pruned = search.cv_results_["exactness"] == "pruned"
        assert pruned.sum() == 2
        for key in ("mean_train_score", "criterion_gcv"):
            assert (np.isnan(search.cv_results_[key]) == pruned).all()

    def test_kernels_without_a_value_come_last(self, two_classes):
        X, y = two_classes
        grid = [{"kernel": ["linear"]}, {"kernel": ["rbf"], "gamma": [0.1, 1.0]}]
        with pytest.warns(UserWarning, match="negative entries"):
            search = KernelSearchCV(SVC(), grid, screen=("sm", 2), cv=4).fit(X, y)
        assert search.cv_results_["exactness"].tolist() == ["pruned", "exact", "exact"]


class TestChosenParameters:
    """A list of etas is chosen from by cross-validating the selection."""

    etas = (2.0**-5, 1.0, 2.0**5, 2.0**10)

    def best_eta(self, X, y, grid, kind):
        """By hand: select on two thirds with each eta, score on the other third."""
        scores = np.zeros(len(self.etas))
        for train, test in StratifiedKFold(3).split(X, y):
            for k, eta in enumerate(self.etas):
                search = KernelSearchCV(SVC(), grid, criterion=kind(eta=eta)).fit(X[train], y[train])
                scores[k] += search.score(X[test], y[test])
        return self.etas[int(scores.argmax())]

    @pytest.mark.parametrize("kind", [criteria.RKS, criteria.CVKS])
    def test_by_hand(self, two_classes, kind):
        X, y = two_classes
        grid = {"gamma": GAMMAS, "C": COSTS}
        search = KernelSearchCV(SVC(), grid, criterion=kind(eta=list(self.etas))).fit(X, y)
        eta = self.best_eta(X, y, grid, kind)
        assert search.criteria_ == [kind(eta=eta)]
        fixed = KernelSearchCV(SVC(), grid, criterion=kind(eta=eta)).fit(X, y)
        assert search.best_params_ == fixed.best_params_
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], fixed.cv_results_["mean_test_score"])
        assert search.ledger_["gram"] == 4 * fixed.ledger_["gram"]  # three inner searches, whatever the list's length

    def test_every_combination_of_lists(self, regression):
        criterion = criteria.ER(components=[2, 5], eta=[0.1, 1.0])
        assert len(criterion.choices()) == 4
        X, y = regression
        search = KernelSearchCV(KernelRidge(kernel="rbf"), {"gamma": GAMMAS}, criterion=["cv", criterion]).fit(X, y)
        assert search.criteria_[1] in criterion.choices()
        assert "criterion_er" in search.cv_results_

    def test_a_list_needs_a_search(self):
        model = KernelRidge(kernel="precomputed")
        with pytest.raises(ValueError, match="search over kernels"):
            criteria.RKS(eta=[0.1, 1.0])(np.eye(3), np.arange(3.0), model)
        for bad in ([], -1.0, [1.0, np.inf], "x"):
            with pytest.raises(ValueError, match="eta"):
                criteria.RKS(eta=bad)
        for kind in (criteria.ER, criteria.PEP):
            with pytest.raises(ValueError, match="components"):
                kind(components=[])

    def test_a_list_of_one_is_that_value(self):
        K, y, model = np.eye(3), np.arange(3.0), KernelRidge(kernel="precomputed")
        assert criteria.RKS(eta=[0.1])(K, y, model) == criteria.RKS(eta=0.1)(K, y, model)
        assert criteria.PEP(components=[2])(K, y) == criteria.PEP(components=2)(K, y)

    def test_splits_of_all_rows_do_not_fit_two_thirds(self, two_classes):
        X, y = two_classes
        grid = {"gamma": GAMMAS}
        for splits in (list(KFold(4).split(X)), PredefinedSplit(np.arange(len(y)) % 4)):
            with pytest.raises(ValueError, match="give a splitter"):
                KernelSearchCV(SVC(), grid, criterion=criteria.CVKS(eta=[0.1, 1.0]), cv=splits).fit(X, y)
            search = KernelSearchCV(SVC(), grid, criterion=criteria.RKS(eta=[0.1, 1.0]), cv=splits).fit(X, y)
            assert search.criteria_[0].eta in (0.1, 1.0)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"criterion": ["radius_margin"]}, "L2SVC"),
            ({"screen": ("cv", 2)}, "screen needs"),
            ({"screen": "sm"}, "pair"),
        ],
    )
    @pytest.mark.usefixtures("no_work")
    def test_nothing_is_chosen_before_the_rest_is_checked(self, two_classes, options, message):
        listed = [criteria.RKS(eta=[0.1, 1.0]), *options.get("criterion", [])]
        with pytest.raises(ValueError, match=message):
            KernelSearchCV(SVC(), {"gamma": GAMMAS}, criterion=listed, screen=options.get("screen")).fit(*two_classes)

    def test_precomputed_kernels(self, two_classes):
        X, y = two_classes
        K = rbf_kernel(X, gamma=0.3)
        search = KernelSearchCV(SVC(kernel="precomputed"), {"C": COSTS}, criterion=criteria.RKS(eta=[0.1, 1.0]))
        assert search.fit(K, y).criteria_[0].eta == 0.1  # one kernel: every eta selects the same


def test_criteria_of_the_same_name_are_numbered(regression):
    X, y = regression
    both = [criteria.RKS(eta=0.0), criteria.RKS(eta=1.0)]
    results = KernelSearchCV(KernelRidge(), [{}], criterion=both).fit(X, y).cv_results_
    assert results["criterion_rks_2"][0] > results["criterion_rks"][0]


def test_scaled_penalties_hold_for_all_criteria(regression):
    X, y = regression
    model = KernelRidge(kernel="rbf", gamma=0.2)
    grid = {"alpha": ALPHAS}
    search = KernelSearchCV(model, grid, criterion=["cv", "loo", "cvks"], scale_penalty=True, cv=4).fit(X, y)
    K = rbf_kernel(X, gamma=0.2)
    for k, alpha in enumerate(ALPHAS):
        precomputed = KernelRidge(kernel="precomputed", alpha=alpha)
        for criterion in (criteria.LOO(scale_penalty=True), criteria.CVKS(scale_penalty=True)):
            expected = criterion(K, y, precomputed, cv=4)
            assert search.cv_results_[f"criterion_{criterion.name}"][k] == pytest.approx(expected, rel=1e-9)


def test_several_workers_give_the_same(two_classes):
    X, y = two_classes
    grid = {"gamma": GAMMAS, "C": COSTS}
    one, two = (
        KernelSearchCV(SVC(), grid, criterion=["span", "sm", "cvks"], screen=("sm", 3), n_jobs=jobs).fit(X, y)
        for jobs in (1, 2)
    )
    for name in ("span", "sm", "cvks"):
        np.testing.assert_array_equal(one.cv_results_[f"criterion_{name}"], two.cv_results_[f"criterion_{name}"])


@pytest.mark.parametrize("criterion", ["cv", "bif", "cvks"])
@pytest.mark.parametrize("preprocessing", ["per_fold", "shared"])
def test_singular_candidates_are_told_of_whatever_is_read_off_their_held_out_values(
    regression, criterion, preprocessing
):
    X, y = np.vstack([regression[0]] * 2), np.tile(regression[1], 2)
    model = make_pipeline(StandardScaler(), LSSVR(gamma=0.5))
    search = KernelSearchCV(
        model, {"lssvr__alpha": [0.0, 1.0]}, criterion=criterion, preprocessing=preprocessing,
        cv=KFold(3, shuffle=True, random_state=0), refit=False,
    ).fit(X, y)  # fmt: skip
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    usual = "shared preprocessing" if preprocessing == "shared" else "ok"
    told = "least-squares solution: K + alpha I is singular to working precision"
    assert search.cv_results_["status"].tolist() == [told if usual == "ok" else f"{usual}; {told}", usual]
