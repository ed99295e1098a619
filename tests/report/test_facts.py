"""What the report says, against loops and other libraries."""

import io
import struct
import zlib
from base64 import b64decode
from itertools import pairwise

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics.pairwise import rbf_kernel

from onefit import criteria, one_standard_error
from onefit.report import drawing
from onefit.report.criteria_compared import compared
from onefit.report.facts import gather
from onefit.report.heat_map import Colouring
from onefit.report.kernel_picture import averaged, kernel_picture
from onefit.report.predictions import Classification, Regression, out_of_fold
from onefit.report.scores import read_scores
from onefit.report.surface import choose_axes, panels_of, validation_curve, validation_curves

from .searches import search_of


class TestScores:
    def test_cautious_choice_is_that_of_the_rule(self):
        for kind in ("binary", "regression", "multi_class"):
            search, _, _ = search_of(kind)
            assert read_scores(search).cautious == one_standard_error(search.cv_results_)

    def test_cautious_choice_is_never_pruned(self):
        search, _, _ = search_of("certified")
        scores = read_scores(search)
        assert scores.exactness[scores.cautious] != "pruned"

    def test_names(self):
        names = {"binary": "accuracy", "regression": "R²", "several_metrics": "accuracy", "fit_free": "sm"}
        for kind, name in names.items():
            assert read_scores(search_of(kind)[0]).name == name

    def test_no_standard_error_without_splits(self):
        for kind in ("leave_one_out", "fit_free"):
            scores = read_scores(search_of(kind)[0])
            assert np.isnan(scores.errors).all()
            assert scores.cautious is None


class TestSurface:
    def test_axes(self):
        assert choose_axes([{"gamma": g, "C": c} for g in (1, 2, 3) for c in (1, 2)]).column == "C"
        axes = choose_axes([{"m__kernel": k, "m__alpha": a, "p__n": n} for k in "ab" for a in (1, 2) for n in (3, 4)])
        assert (axes.row, axes.column, axes.others) == ("m__kernel", "m__alpha", ("p__n",))
        axes = choose_axes([{"max_depth": d, "n": n} for d in (1, 2, 3) for n in (1, 2)])
        assert (axes.row, axes.column) == ("max_depth", "n")
        assert choose_axes([{}]) == choose_axes([{"C": 1.0}])

    def test_cells_are_where_their_labels_say(self):
        search, _, _ = search_of("list_of_grids")
        panels, left_out = panels_of(read_scores(search))
        assert left_out == 0
        assert len(panels) == 3
        seen = 0
        for panel in panels:
            for row, cells in zip(panel.row_labels, panel.cells):
                for column, i in zip(panel.column_labels, cells):
                    params = search.cv_results_["params"][i]
                    assert f"{params[panel.column_name]:.4g}" == column
                    assert not panel.row_name or f"{params[panel.row_name]:.4g}" == row
                    assert f"kernel={params['kernel']}" in panel.title
                    seen += 1
        assert seen == len(search.cv_results_["params"])
        assert search.best_index_ in {i for row in panels[0].cells for i in row}

    def test_few_bad_candidates_do_not_use_up_the_colours(self):
        merit = np.array([-1e6, 0.7, 0.8, 0.85, 0.9, np.nan])
        colouring = Colouring.of(merit)
        assert colouring.clipped
        assert colouring.share(0.9) == 1.0
        assert colouring.share(-1e6) == 0.0
        assert colouring.share(0.7) < colouring.share(0.8) < 0.8
        assert Colouring.of(np.array([0.5, 0.5])).share(0.5) == 1.0
        assert Colouring.of(np.array([np.nan])).share(0.5) == 0.5

    def test_texts_of_cells_have_the_same_decimals(self):
        assert Colouring(0.1, 0.98, False).text(0.9) == "0.900"
        assert Colouring(0, 54.321, False).text(3.0) == "3.00"
        assert Colouring(-4000.0, -3000.0, False).text(3210.9) == "3211"
        assert Colouring(0, 3e-7, False).text(1.2345e-7) == "1.23e-07"


class TestCurves:
    def test_differs_in_one_parameter_only(self):
        search, _, _ = search_of("multi_class")
        results, best = search.cv_results_, search.best_params_
        curve = validation_curve(read_scores(search), "svc__C")
        expected = [
            (params["svc__C"], mean, std / np.sqrt(3))  # of four folds
            for params, mean, std in zip(results["params"], results["mean_test_score"], results["std_test_score"])
            if params["svc__gamma"] == best["svc__gamma"]
        ]
        np.testing.assert_allclose(np.column_stack([curve.places, curve.values, curve.errors]), sorted(expected))
        assert curve.places[curve.best] == best["svc__C"]
        top = int(np.argmax(results["mean_test_score"]))
        assert curve.threshold == results["mean_test_score"][top] - results["std_test_score"][top] / np.sqrt(3)

    def test_leaves_out_what_is_not_known(self):
        search, _, _ = search_of("certified")
        scores = read_scores(search)
        known = {
            params["gamma"]
            for params, label in zip(scores.params, scores.exactness)
            if params["C"] == search.best_params_["C"] and label != "pruned"
        }
        assert set(validation_curve(scores, "gamma").places) == known

    def test_parameters_without_numbers_have_none(self):
        assert validation_curves(read_scores(search_of("kernel_objects")[0])) == []


class TestPredictions:
    def test_two_classes(self):
        search, _, y = search_of("binary")
        found, _ = out_of_fold(search, None)  # the search keeps the labels
        assert isinstance(found, Classification)
        labels = np.where(search.oof_decision_ > 0, "yes", "no")
        for i, true in enumerate(("no", "yes")):
            for j, predicted in enumerate(("no", "yes")):
                assert found.confusion[i, j] == sum((y == true) & (labels == predicted))
        pairs = search.oof_decision_[y == "yes"][:, None] - search.oof_decision_[y == "no"]
        assert found.auc == pytest.approx((pairs > 0).mean() + 0.5 * (pairs == 0).mean())
        area = np.trapezoid(found.roc[1], found.roc[0])
        assert area == pytest.approx(found.auc)

    def test_more_classes_take_predicted_labels(self):
        search, _, y = search_of("multi_class")
        found, _ = out_of_fold(search, y)
        assert found.roc is None
        assert found.accuracy == np.mean(search.oof_prediction_ == y)
        labels, names = search.oof_prediction_, np.unique(y)
        counts = [[sum((y == true) & (labels == given)) for given in names] for true in names]
        np.testing.assert_array_equal(found.confusion, counts)
        np.testing.assert_allclose(found.recall, metrics.recall_score(y, search.oof_prediction_, average=None))
        np.testing.assert_allclose(found.precision, metrics.precision_score(y, search.oof_prediction_, average=None))

    def test_regression(self):
        search, _, y = search_of("regression")
        found, _ = out_of_fold(search, y)
        assert isinstance(found, Regression)
        errors = y - search.oof_decision_
        assert found.rmse == pytest.approx(np.sqrt(np.mean(errors**2)))
        assert found.mae == pytest.approx(np.mean(np.abs(errors)))
        assert found.r2 == [pytest.approx(1 - np.sum(errors**2) / np.sum((y - y.mean()) ** 2))]
        assert out_of_fold(search, None)[0] is None

    def test_several_targets(self):
        search, _, y = search_of("two_targets")
        found, _ = out_of_fold(search, y)
        assert len(found.r2) == 2
        np.testing.assert_array_equal(found.true, y[:, 0])


class TestKernel:
    def test_spectrum_freedom_and_stability(self):
        search, X, y = search_of("regression")
        found, _ = kernel_picture(search, X, y)
        K = rbf_kernel(X, gamma=search.best_params_["gamma"])
        alpha = search.best_params_["alpha"]
        np.testing.assert_allclose(found.eigenvalues, np.linalg.eigvalsh(K)[::-1], atol=1e-12)
        hat = K @ np.linalg.inv(K + alpha * np.eye(len(K)))
        assert found.degrees_of_freedom == pytest.approx(np.trace(hat))
        assert found.effective_rank == pytest.approx(np.trace(K) ** 2 / np.sum(K**2))
        assert found.stability == pytest.approx(criteria.kernel_stability(K))
        order = np.argsort(y)
        np.testing.assert_allclose(found.pixels, K[np.ix_(order, order)], atol=1e-12)
        assert [bound.name for bound in found.bounds] == ["krr_change", "krr_change_without_stability"]

    def test_rows_are_seen_through_the_pipeline(self):
        search, X, y = search_of("multi_class")
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        found, _ = kernel_picture(search, X, y)
        K = rbf_kernel(Z, gamma=search.best_params_["svc__gamma"])
        np.testing.assert_allclose(found.eigenvalues, np.linalg.eigvalsh(K)[::-1], atol=1e-11)
        assert [name for name, _ in found.blocks] == ["ant", "bee", "cat"]
        assert sum(share for _, share in found.blocks) == pytest.approx(1.0)

    def test_without_refit_the_transformers_are_fitted_anew(self):
        search, X, y = search_of("not_refitted")
        assert kernel_picture(search, X, y)[0].n == len(X)

    def test_blocks_are_averaged(self):
        rng = np.random.default_rng(0)
        K = rng.normal(size=(430, 430))
        starts = [int(k * 430 / 200) for k in range(200)] + [430]
        parts = list(pairwise(starts))
        expected = [[K[a:b, c:d].mean() for c, d in parts] for a, b in parts]
        np.testing.assert_allclose(averaged(K), expected, atol=1e-12)
        np.testing.assert_array_equal(averaged(K[:9, :9]), K[:9, :9])


class TestCriteria:
    def test_columns_of_a_search_are_compared(self):
        search, _, _ = search_of("fit_free")
        found = compared(search, read_scores(search), None)
        results = search.cv_results_
        assert [choice.criterion for choice in found.choices] == ["sm", "kta"]
        for choice in found.choices:
            assert choice.value == max(results[f"criterion_{choice.criterion}"])
            assert np.isnan(choice.cv_score)

    def test_one_criterion_has_nothing_to_compare_with(self):
        search, _, _ = search_of("binary")
        assert compared(search, read_scores(search), None) is None


class TestCost:
    def test_counts_trainings(self):
        facts = gather(search_of("retrained")[0])
        assert (facts.cost.trainings, facts.cost.trained, facts.cost.replaced) == (8, 8, 0)
        search, _, _ = search_of("out_of_time")
        reached = int((search.cv_results_["exactness"] != "not reached").sum())
        assert 0 < reached < 12
        assert gather(search).cost.trainings == 4 * reached
        search, _, _ = search_of("binary")
        cost = gather(search).cost
        assert (cost.trainings, cost.replaced) == (48, 48)
        assert cost.work == pytest.approx(sum(search.cv_results_["seconds"]))
        assert {count for _, count, _ in cost.ledger} == {count for count in search.ledger_.counts.values() if count}


class TestColours:
    def test_scale_is_viridis(self):
        matplotlib = pytest.importorskip("matplotlib")
        theirs = 255 * matplotlib.colormaps["viridis"](np.linspace(0, 1, 11))[:, :3]
        assert np.abs(np.array(drawing.ANCHORS) - theirs).max() < 1.5

    def test_lighter_is_more(self):
        grey = drawing.palette(11).astype(float) @ [0.2126, 0.7152, 0.0722]
        assert (np.diff(grey) > 8).all()

    def test_ink_can_be_read(self):
        def luminance(colour):
            parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
            parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        for share in np.linspace(0, 1, 101):
            paper = drawing.shade(share)
            light, dark = sorted([luminance(paper), 1.0 if drawing.ink(paper) == "#fff" else 0.0], reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5

    def test_picture_has_its_pixels(self):
        shares = np.random.default_rng(0).uniform(size=(7, 5))
        data = b64decode(drawing.picture(shares).split(",")[1])
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        stream, chunks = io.BytesIO(data[8:]), {}
        while head := stream.read(8):
            length, name = struct.unpack(">I4s", head)
            body = stream.read(length)
            assert struct.unpack(">I", stream.read(4))[0] == zlib.crc32(name + body)
            chunks[name] = body
        assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (5, 7)
        lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(7, 6)
        np.testing.assert_array_equal(lines[:, 1:], np.rint(255 * shares))


class TestScales:
    @pytest.mark.parametrize("values", [[0.3, 0.9], [5.0], [0.0], [-3e6, 2e6], [1e-9, 3e-9], [np.nan, 1.0], []])
    def test_ticks_are_round_and_inside(self, values):
        scale = drawing.vertical(values)
        places = [place for place, _ in scale.ticks()]
        assert 2 <= len(places) <= 8
        assert all(scale.low <= place <= scale.high for place in places)
        units = {"k": 1e3, "M": 1e6, "G": 1e9}
        for place, text in scale.ticks():
            told = float(text.rstrip("kMG")) * units.get(text[-1], 1.0)
            assert told == pytest.approx(place, abs=1e-12 * abs(scale.high))
        assert float(scale(scale.low)) == drawing.HEIGHT - drawing.BOTTOM
        assert float(scale(scale.high)) == drawing.TOP

    def test_logarithms(self):
        scale = drawing.horizontal([1e-4, 1e4], logarithmic=True)
        assert [place for place, _ in scale.ticks()] == [1e-4, 1e-2, 1.0, 1e2, 1e4]
        assert float(scale(1.0)) == pytest.approx((scale.start + scale.end) / 2)
