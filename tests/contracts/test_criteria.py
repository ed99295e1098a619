"""What every criterion of the registry promises."""

import re
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR

import onefit
from onefit import (
    L2SVC,
    LSSVC,
    LSSVR,
    EpsilonSVR,
    HingeSVC,
    KernelLogisticRegression,
    KernelSearchCV,
    compare,
    criteria,
)
from onefit.criteria import documentation
from onefit.criteria.base import READS, Criterion, capabilities_of
from onefit.gram import DenseGram
from onefit.machines import Exactness
from onefit.machines.capabilities import CAPABILITIES
from onefit.machines.registry import estimators_read_as, estimators_that_offer, read_machine

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
PAGE = Path(__file__).parents[2] / "docs" / "criteria.md"

MACHINES = {
    "KernelRidge": KernelRidge(kernel="precomputed"),
    "LSSVC": LSSVC(kernel="precomputed", fit_intercept=False),
    "LSSVR": LSSVR(kernel="precomputed", fit_intercept=False),
    "SVC": SVC(kernel="precomputed"),
    "L2SVC": L2SVC(kernel="precomputed"),
    "SVR": SVR(kernel="precomputed"),
    "KernelLogisticRegression": KernelLogisticRegression(kernel="precomputed"),
    "HingeSVC": HingeSVC(kernel="precomputed", fit_intercept=False),
    "EpsilonSVR": EpsilonSVR(kernel="precomputed", fit_intercept=False),
}


@dataclass(frozen=True)
class MeanEntry(Criterion):
    """The mean of the Gram matrix: a criterion that a user adds."""

    scale: float = 1.0

    name = "mean_entry"
    reads = ("gram",)
    greater_is_better = True
    formula = "scale * mean(K)"
    cost = "O(n²)"
    estimates = "nothing"
    use = "this test"
    failures = "everything | all"

    def path(self, evidence):
        return np.full(evidence.size, self.scale * evidence.gram.sums.mean() / evidence.n)


def machine_for(kind, otherwise="KernelRidge"):
    """The name of an estimator that the criterion is defined for."""
    required = capabilities_of(kind())
    return estimators_that_offer(required)[0] if required else otherwise


@pytest.fixture
def registered(monkeypatch):
    """One class and one line."""
    monkeypatch.setitem(criteria.REGISTRY, MeanEntry.name, MeanEntry)
    return MeanEntry


every = pytest.mark.parametrize("kind", [*criteria.REGISTRY.values(), MeanEntry], ids=lambda kind: kind.name)


def data(n=24):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0.2, 1, -1)
    return rbf_kernel(X, gamma=0.5), y


@every
class TestEveryCriterion:
    def test_is_a_frozen_value_with_a_name(self, kind):
        criterion = kind()
        assert criterion == kind()
        assert hash(criterion) == hash(kind())
        assert criterion.name == kind.name == kind.name.lower()
        for field in fields(criterion):
            with pytest.raises(FrozenInstanceError):
                setattr(criterion, field.name, None)
        assert replace(criterion) == criterion

    def test_declares_itself(self, kind):
        criterion = kind()
        assert set(criterion.reads) <= set(READS)
        assert criterion.reads
        assert isinstance(criterion.greater_is_better, bool)
        assert kind.classes in ("any", "labels", "two")
        assert isinstance(kind.exactness, Exactness)
        for text in (kind.formula, kind.cost, kind.estimates, kind.use, kind.failures, kind.__doc__):
            assert text

    @pytest.mark.parametrize("machine", MACHINES)
    def test_is_a_number_or_a_refusal_that_names_machines(self, kind, machine):
        K, y = data()
        offered = read_machine(MACHINES[machine]).learner.offers
        lacking = [name for name in kind().reads if name in CAPABILITIES and name not in offered]
        if lacking:
            with pytest.raises(ValueError, match=f"The criterion {kind.name} is defined for ") as refusal:
                kind()(K, y, MACHINES[machine], cv=3)
            valid, given = str(refusal.value).split("; ")
            assert set(estimators_that_offer(capabilities_of(kind()))) == set(valid.split(" for ")[1].split(", "))
            assert machine in given
            assert all(CAPABILITIES[name] in given for name in lacking)
        else:
            value = kind()(K, y, MACHINES[machine], cv=3)
            assert isinstance(value, float)
            assert np.isfinite(value)

    def test_needs_an_estimator_only_if_it_says_so(self, kind):
        K, y = data()
        if {"left_out", "heldout", *CAPABILITIES} & set(kind().reads):
            with pytest.raises(ValueError, match=r"estimator|understand|fast path"):
                kind()(K, y)
        else:
            assert np.isfinite(kind()(K, y))

    def test_does_not_write(self, kind):
        K, y = data()
        K.flags.writeable = False
        y.flags.writeable = False
        name = machine_for(kind)
        kind()(K, y, MACHINES[name], cv=3)

    def test_does_not_depend_on_the_order_of_rows(self, kind):
        K, y = data()
        name = machine_for(kind)
        order = np.random.default_rng(0).permutation(len(y))
        place = np.argsort(order)
        splits = [(np.arange(8, 24), np.arange(8)), (np.arange(12), np.arange(12, 24))]
        moved = [(place[train], place[test]) for train, test in splits]
        value = kind()(K, y, MACHINES[name], cv=splits)
        assert kind()(K[np.ix_(order, order)], y[order], MACHINES[name], cv=moved) == pytest.approx(value, rel=1e-9)

    def test_reads_no_more_than_it_declares(self, kind, monkeypatch):
        K, y = data()
        serves = {
            "smoother": {"smoother", "fitted", "left_out"},
            "margins": {"margin", "fitted"},
            "balls": {"ball"},
            "fitted": {"fitted"},
            "heldout": {"heldout", "left_out"},
        }
        name = machine_for(kind)
        reads = kind().reads
        learner = type(read_machine(MACHINES[name]).learner)

        def forbidden(*args, **options):
            raise AssertionError("this was not declared")

        for method, purposes in serves.items():
            if not purposes & set(reads) and hasattr(learner, method):
                monkeypatch.setattr(learner, method, forbidden)
        if not {"gram", "labels"} & set(reads):
            monkeypatch.setattr(DenseGram, "strips", forbidden)
            monkeypatch.setattr(DenseGram, "times", forbidden)
        kind()(K, y, MACHINES[name], cv=3)

    @pytest.mark.quick(11)
    def test_works_in_a_search_and_in_compare(self, kind, registered):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(30, 2))
        y = np.where(X[:, 0] > 0, 1, -1)
        name = machine_for(kind, "LSSVC")
        model = type(MACHINES[name])(kernel="rbf")
        if hasattr(model, "fit_intercept") and kind.name == "lml":
            model.set_params(fit_intercept=False)
        grid = {"gamma": [0.1, 1.0]}
        search = KernelSearchCV(model, grid, criterion=kind.name, cv=3).fit(X, y)
        K = [rbf_kernel(X, gamma=gamma) for gamma in grid["gamma"]]
        if not kind.scores and kind.name != "br":
            precomputed = type(model)(**{**model.get_params(), "kernel": "precomputed"})
            sign = 1 if kind.greater_is_better else -1
            expected = [sign * kind()(matrix, y, precomputed, cv=3) for matrix in K]
            np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-8)
        result = compare(model, grid, X, y, criteria=[kind.name], cv=3)
        (row,) = result.rows
        assert row["criterion"] == kind.name
        assert row["params"] == search.best_params_

    def test_has_its_row_in_the_table(self, kind, registered):
        text = documentation.markdown_table(criteria.REGISTRY.values())
        rows = [line for line in text.splitlines() if f'`{kind.__name__}`, "{kind.name}"' in line]
        assert len(rows) == 1
        assert rows[0].replace("\\|", "").count("|") == len(documentation.COLUMNS) + 1


def test_the_table_of_the_documentation_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    fresh = documentation.insert(page, documentation.markdown_table(criteria.REGISTRY.values()))
    assert page == fresh, "run: python -m onefit.criteria.documentation docs/criteria.md"


def test_names_that_are_pinned():
    pinned = {
        "CV", "BIF", "LOO", "GCV", "KTA", "CKTA", "FSM", "SM", "SPS", "RKS", "CVKS", "ER", "PEP", "BR", "LML", "Span",
        "RadiusMargin", "XiAlpha", "GACV", "ALO", "CVVariance",
    }  # fmt: skip
    assert {kind.__name__ for kind in criteria.REGISTRY.values()} == pinned
    for name in pinned:
        assert getattr(criteria, name) in criteria.REGISTRY.values()
    assert criteria.RKS().eta == 2**-2
    assert criteria.CVKS().eta == 2**-1
    assert criteria.SPS() == criteria.SPS(exact=False, delta=1.0)
    assert criteria.ER() == criteria.ER(components="sqrt", eta=1.0)
    assert criteria.PEP() == criteria.PEP(components="sqrt")
    assert criteria.SM() == criteria.SM(degree=3, weighted=True)
    assert criteria.XiAlpha() == criteria.XiAlpha(rho=2)


@pytest.mark.parametrize("name", MACHINES)
def test_estimators_in_messages_are_those_that_are_read(name):
    learner = read_machine(MACHINES[name]).learner
    assert name in estimators_read_as(learner)
    assert all(name in estimators_that_offer([capability]) for capability in learner.offers)
    assert set(estimators_that_offer([])) == set(MACHINES)


METHODS = {"smoother": {"smoother"}, "margin": {"margins"}, "ball": {"balls"}}
METHODS["fitted"] = {"smoother", "margins", "fitted"}


@pytest.mark.parametrize("name", MACHINES)
def test_learners_offer_what_they_can_do(name):
    learner = read_machine(MACHINES[name]).learner
    assert set(learner.offers) <= set(CAPABILITIES)
    for capability, methods in METHODS.items():
        assert capability not in learner.offers or any(hasattr(learner, method) for method in methods)


def test_nobody_asks_for_the_name_of_a_learner():
    source = Path(onefit.__file__).parent
    asked = re.compile(r"learner\.name\s*(==|!=|in\b|not in\b)")
    assert not [file for file in source.rglob("*.py") if asked.search(file.read_text(encoding="utf-8"))]
