"""Machines trained again on any rows by other solvers than onefit's, and the losses of rows one at a time."""

from functools import lru_cache
from itertools import combinations

import numpy as np
from sklearn.base import is_classifier
from sklearn.kernel_ridge import KernelRidge

from onefit import L2SVC, LSSVC, LSSVR

from . import bouligand, influence, least_squares
from .interior_point import solve_box_qp
from .support_vector import coordinate_descent, squared_hinge_newton

LOSSES = {
    "squared": lambda y, f: (y - f) ** 2,
    "hinge": lambda y, f: max(0.0, 1.0 - y * f),
    "absolute": lambda y, f: abs(y - f),
}


class Retraining:
    """A Gram matrix, a target, folds, and a machine with its parameters.

    ``columns`` are the problems that it solves: (name, targets of all rows, which rows take part). A regression has
    one, so have two classes (the larger one is +1); several classes have one against the rest each for least squares,
    and one for each pair for support vector machines.
    """

    def __init__(self, K, y, machine, folds):
        self.K, self.y, self.machine, self.folds, self.n = K, np.asarray(y), machine, folds, len(K)
        self.bias = not isinstance(machine, KernelRidge) and getattr(machine, "fit_intercept", True)
        self.least_squares = isinstance(machine, KernelRidge | LSSVC | LSSVR)
        self.classes = np.unique(y) if is_classifier(machine) else None
        self.columns = self._columns()
        self.values = lru_cache(maxsize=None)(self._values)

    def _columns(self):
        everybody = np.ones(self.n, dtype=bool)
        if self.classes is None:
            return [(None, self.y, everybody)]
        if self.least_squares:
            wanted = self.classes[1:] if len(self.classes) == 2 else self.classes
            return [(label, np.where(self.y == label, 1.0, -1.0), everybody) for label in wanted]
        return [
            ((low, high), np.where(self.y == high, 1.0, -1.0), np.isin(self.y, [low, high]))
            for low, high in combinations(self.classes, 2)
        ]

    @property
    def epsilon(self):
        """Half the width of the tube of a regression, None for classes."""
        return None if self.classes is not None else getattr(self.machine, "epsilon", None)

    def own_loss(self, y, f):
        """The loss that is averaged where none is asked for by name: that of the machine."""
        if self.least_squares:
            return LOSSES["squared"](y, f)
        return LOSSES["hinge"](y, f) if self.epsilon is None else max(0.0, abs(y - f) - self.epsilon)

    def coefficients(self, rows, column=0):
        """(dual coefficients, bias) of one column, trained on some rows."""
        K, y, machine = self.K[np.ix_(rows, rows)], self.columns[column][1][rows], self.machine
        if self.least_squares:
            dual, intercept = least_squares.solve(K, y[:, None], machine.alpha, None, self.bias)
            return dual[:, 0], intercept[0]
        if isinstance(machine, L2SVC):
            return squared_hinge_newton(K, y, machine.C, bias=self.bias)
        if not self.bias:
            return coordinate_descent(K, y, np.full(len(y), machine.C), self.epsilon), 0.0
        if self.epsilon is None:
            x, b, _ = solve_box_qp(y[:, None] * K * y, -np.ones(len(y)), y, np.full(len(y), machine.C))
            return y * x, -b
        sign, m = np.repeat([1.0, -1.0], len(y)), len(y)
        Q = np.block([[K, -K], [-K, K]])
        x, b, _ = solve_box_qp(Q, self.epsilon - sign * np.tile(y, 2), sign, np.full(2 * m, machine.C))
        return x[:m] - x[m:], -b

    def _values(self, train):
        """Values of all rows (n, c) by the machine trained on the rows ``train``, a tuple."""
        found = np.empty((self.n, len(self.columns)))
        for k, (_, _, used) in enumerate(self.columns):
            rows = np.array([i for i in train if used[i]])
            beta, b = self.coefficients(rows, k)
            found[:, k] = self.K[:, rows] @ beta + b
        return found

    @property
    def fitted(self):
        """Values of all rows by the machine trained on all rows."""
        return self.values(tuple(range(self.n)))

    def smoothed(self, h):
        """(loss whose kinks are parabolas over h, value and derivatives) of a support vector machine."""
        if isinstance(self.machine, L2SVC):
            return bouligand.squared_hinge()
        if self.epsilon is None:
            return bouligand.smoothed_hinge(0.01 if h is None else h)
        return bouligand.smoothed_tube(self.epsilon, self.epsilon / 100 if h is None else h)

    def series(self, order, h, scale_penalty):
        """Values of all rows (folds, n, c) by the influence-function series of each fold, from dense matrices."""
        if self.least_squares:
            H = influence.hat_matrix(self.K, self.machine.alpha, None, self.bias)
            Y = np.column_stack([target for _, target, _ in self.columns])
            return np.array([influence.series(H, Y, test, order, scale_penalty) for _, test in self.folds])
        found = np.empty((len(self.folds), self.n, len(self.columns)))
        loss, C = self.smoothed(h), self.machine.C
        for k, (_, target, used) in enumerate(self.columns):
            weights = used.astype(float)
            start = bouligand.minimise(self.K, target, loss, C * weights, self.bias)
            conventions = []
            for train, _ in self.folds:
                then = np.where(np.isin(np.arange(self.n), train), weights, 0.0)
                conventions.append(bouligand.Convention.of(C, weights, then, len(train), scale_penalty))
            found[:, :, k] = bouligand.series(
                self.K, target, loss, start, conventions, [order], self.bias, self.epsilon
            )[0]
        return found

    def left_out_by_newton(self, h):
        """Values (n, c) of every row after one Newton step, from the full solution, of the machine without it."""
        found = np.empty((self.n, len(self.columns)))
        loss, C = self.smoothed(h), self.machine.C
        for k, (_, target, used) in enumerate(self.columns):
            cost = C * used.astype(float)
            start = bouligand.minimise(self.K, target, loss, cost, self.bias)
            for i in range(self.n):
                others = np.where(np.arange(self.n) == i, 0.0, cost)
                found[i, k] = bouligand.newton_step(self.K, target, loss, others, start, self.bias)[i]
        return found

    def losses(self, values, rows, loss):
        """The loss of each of some rows, from values (n, c) of all rows: of several columns that count the mean."""
        found = []
        for i in rows:
            if loss == "error" or (loss is None and self.classes is not None):
                found.append(float(self.predicted(values[i]) != self.y[i]))
                continue
            value = LOSSES["squared" if loss is None else loss] if not callable(loss) else loss
            counted = [k for k, (_, _, used) in enumerate(self.columns) if used[i]]
            found.append(np.mean([value(self.columns[k][1][i], values[i, k]) for k in counted]))
        return np.array(found)

    def predicted(self, values):
        """The label of a row: votes of pairs, the largest of several columns, or the sign of one."""
        names = [name for name, _, _ in self.columns]
        if len(self.classes) == 2:
            return self.classes[int(values[0] > 0)]
        if self.least_squares:
            return names[int(np.argmax(values))]
        votes = dict.fromkeys(self.classes, 0)
        for (low, high), value in zip(names, values):
            votes[high if value > 0 else low] += 1
        return max(votes, key=votes.get)

    def held_out(self, loss, values=None):
        """The losses of each fold's tested rows; by real retraining, or from given values (folds, n, c)."""
        values = [self.values(tuple(train)) for train, _ in self.folds] if values is None else values
        return [self.losses(part, test, loss) for part, (_, test) in zip(values, self.folds)]
