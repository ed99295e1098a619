"""Candidates that methods select, and their errors on the test rows."""

from __future__ import annotations

from ..criteria import Criterion
from .part import Part
from .spec import Method
from .values import Wish, values_of

INNER = 3
"""Folds by which a method chooses parameters of its criterion."""

Record = tuple[str, str, float]
"""(setting, method, score)."""


def select(part: Part) -> list[Record]:
    """The test error of the model that each method selects."""
    settled = _settle(part)
    wishes = [_wish(part, method, criterion) for method, _, criterion in settled]
    values = values_of(part.protocol, wishes, part.X, part.y, part.draw)
    return [
        (method.setting or setting, method.name, part.score(part.best(values[wish], setting)))
        for (method, setting, _), wish in zip(settled, wishes)
    ]


def _wish(part: Part, method: Method, criterion: Criterion) -> Wish:
    return method.machine or part.protocol.machine, criterion, method.folds


def _settle(part: Part) -> list[tuple[Method, str, Criterion]]:
    """(method, setting, its criterion), where parameters to choose from are chosen for each setting.

    As the papers do by threefold cross-validation of the selection: every choice selects on two thirds of the
    training rows, the selected models are tested on the remaining third, and the best choice is kept.
    """
    protocol = part.protocol
    settings = protocol.settings
    losses: dict[tuple[Method, str, Criterion], float] = {}
    choosing = [method for method in protocol.methods if len(method.criterion.choices()) > 1]
    for third in part.inner(INNER) if choosing else ():
        wishes = {(m, choice): _wish(part, m, choice) for m in choosing for choice in m.criterion.choices()}
        values = values_of(protocol, list(wishes.values()), third.X, third.y, third.draw)
        for (method, choice), wish in wishes.items():
            for setting in settings:
                loss = third.loss(third.best(values[wish], setting))
                losses[method, setting, choice] = losses.get((method, setting, choice), 0.0) + loss

    def best(method: Method, setting: str) -> Criterion:
        return min(method.criterion.choices(), key=lambda choice: losses.get((method, setting, choice), 0.0))

    return [(method, setting, best(method, setting)) for method in protocol.methods for setting in settings]
