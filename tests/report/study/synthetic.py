"""Outcomes of every kind, made up from named seeds."""

import numpy as np

from onefit import criteria
from onefit.studies.outcome import Outcome, Printed
from onefit.studies.spec import Claim, Method, OpenQuestion, Protocol, Study

SIX = ("5-CV", "5-BIF", "10-CV", "10-BIF", "20-CV", "20-BIF")


def make_study(
    key="bif:1",
    methods=SIX,
    datasets=("australian", "heart", "sonar"),
    *,
    unit="%",
    kind="selection",
    splits=10,
    train_share=0.5,
    metric="error",
    **more,
):
    protocol = Protocol(
        name="made up",
        machine="lssvm",
        datasets=tuple(datasets),
        grids=({"gamma": [1.0]},),
        penalties=(1.0,),
        methods=tuple(Method(name, criteria.CV()) for name in methods),
        splits=splits,
        train_share=train_share,
        metric=metric,
        kind=kind,
        questions=(OpenQuestion("Scaling of features?", "To [0, 1].", "A & B <do> not say_so | ever."),),
    )
    return Study(key, "A paper, 2000", f"Table <of> {key} & more", protocol, unit, **more)


def make_outcome(study, settings=("",), *, scale=15.0, spread=1.0, splits=None, seed=0, printed=True, better=None):
    """Scores around ``scale`` of a share ``spread / scale``; ``better`` shifts methods by name."""
    rng = np.random.default_rng(seed)
    protocol = study.protocol
    methods = tuple(method.name for method in protocol.methods)
    scores, paper = {}, {}
    for dataset in protocol.datasets:
        for setting in settings:
            common = rng.normal(scale, spread, splits or protocol.splits)
            for method in methods:
                values = common + rng.normal(0, spread / 3, len(common)) - (better or {}).get(method, 0.0)
                scores[dataset, setting, method] = dict(enumerate(values.tolist()))
                if printed:
                    paper[dataset, setting, method] = Printed(scale * (1 + 0.01 * rng.normal()), spread)
    seconds = {(d, s, "all methods"): 1.5 + s for d in protocol.datasets for s in range(splits or protocol.splits)}
    return Outcome(study, protocol.datasets, tuple(settings), methods, scores, paper, {}, seconds)


def claim(first, verb, second, **more):
    return Claim(f"The paper says that {first} {verb} {second}.", first, verb, second, **more)
