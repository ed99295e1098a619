"""Figures that need no selection: criteria over the kernels, and the error of the series by its order."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from .. import cross_val_decision
from ..criteria import CV
from .machines import estimator_of
from .part import Part, in_units
from .selection import Record
from .spec import MEAN_LOSS, NO_SETTING
from .values import Wish, values_of

ORDERS = tuple(range(1, 11))


def curve(part: Part) -> list[Record]:
    """The value of every method's criterion for each kernel, in the protocol's unit; the setting is the kernel's width.

    The width is the papers' σ = 1 / (2 gamma).
    """
    methods = part.protocol.methods
    wishes = [(part.protocol.machine, method.criterion, method.folds) for method in methods]
    values = values_of(part.protocol, wishes, part.X, part.y, part.draw)
    return [
        (f"{0.5 / candidate['gamma']:g}", method.name, in_units(float(values[wish][k]), part.protocol))
        for method, wish in zip(methods, wishes)
        for k, candidate in enumerate(part.candidates)
    ]


def discrepancy(part: Part) -> list[Record]:
    """The mean squared difference of exact and approximate held-out values by the order of the series.

    For the candidate that exact cross-validation selects. The setting is the order.
    """
    protocol, records = part.protocol, []
    wishes: list[Wish] = [(protocol.machine, CV(), method.folds) for method in protocol.methods]
    values = values_of(protocol, wishes, part.X, part.y, part.draw)
    for method, wish in zip(protocol.methods, wishes):
        assert method.folds is not None
        chosen = part.candidates[part.best(values[wish], NO_SETTING)]
        model = clone(estimator_of(protocol.machine, part.y)).set_params(**chosen)
        keywords = {"cv": part.draw(method.folds), "scale_penalty": protocol.loss == MEAN_LOSS}
        exact = cross_val_decision(model, part.X, part.y, **keywords)
        for order in ORDERS:
            series = cross_val_decision(model, part.X, part.y, method="bif", order=order, **keywords)
            records.append((str(order), method.name, float(np.mean((exact - series) ** 2))))
    return records
