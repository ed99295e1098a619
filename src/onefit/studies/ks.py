"""Kernel stability for model selection: Tables II and III, Figure 2."""

from __future__ import annotations

from dataclasses import replace

from ..criteria import BR, CV, CVKS, LOO, RKS, SPS
from .spec import Claim, Method, OpenQuestion, Protocol, Study

PAPER = "Y. Liu, S. Liao, H. Zhang, W. Ren & W. Wang, Kernel stability for model selection in kernel-based algorithms"
CLASSIFICATION = ("australian", "heart", "ionosphere", "breast", "diabetes", "german", "liver", "sonar", "a2a")
REGRESSION = ("bodyfat", "housing", "mpg", "pyrim", "triazines", "eunite", "mg", "space-ga", "cpusmall")
GAUSSIAN = {"kernel": ["rbf"], "gamma": [0.5 / 2.0**i for i in range(-15, 16)]}
PENALTIES = (0.1, 1.0, 10.0, 100.0)
FACTORS = [2.0**i for i in (-5, 0, 5, 10)]
ETAS = tuple(2.0**i for i in range(-5, 11))


def _methods(loss: str, least_squares: str | None, left_out: str = "squared") -> tuple[Method, ...]:
    """The eight columns; those that are defined for least squares only select with that machine.

    ``loss`` is what CV and CVKS average, ``left_out`` what ELOO averages.
    """
    return (
        Method("5-CVKS", CVKS(eta=FACTORS, loss=loss, aggregate="folds"), 5),
        Method("10-CVKS", CVKS(eta=FACTORS, loss=loss, aggregate="folds"), 10),
        Method("RKS", RKS(eta=FACTORS)),
        Method("5-CV", CV(loss=loss, aggregate="folds"), 5),
        Method("10-CV", CV(loss=loss, aggregate="folds"), 10),
        Method("ELOO", LOO(loss=left_out), machine=least_squares),
        Method("BR", BR(), machine=least_squares),
        Method("SPS", SPS(delta=FACTORS)),
    )


QUESTIONS = (
    OpenQuestion("scaling of the inputs", "each feature linearly to [-1, 1] over all rows; targets as published",
                 "the data come from LIBSVM's site, whose scaled files are made so"),
    OpenQuestion("folds", "random; with classes spread evenly", "a training fold that lacks a class has no machine"),
    OpenQuestion("ELOO", "PRESS: the mean squared leave-one-out residual of least squares, targets -1 and +1",
                 "the cited formula; BR is a function of it and of kernel parameters, and nearly equals it in print"),
    OpenQuestion("kernels", "Gaussian only", "the text lists polynomial kernels too, but selects τ in its tables"),
    OpenQuestion("ties", "the smallest τ", "the first minimum of the grid"),
    OpenQuestion("cross-validation within CV, CVKS", "nλ in proportion to the training rows of a fold",
                 "the paper averages the loss, so λ is kept when rows are left out"),
)  # fmt: skip
FOR_SVM = OpenQuestion(
    "ELOO and BR for SVM",
    "they select τ with the least squares machine of the same nλ; the SVM is trained with that τ",
    "the methods cited for them are defined for least squares only",
)
LOSSES = OpenQuestion(
    "the loss that cross-validation averages",
    "the hinge loss, in CV and CVKS alike",
    "not said; the theorems on CVKS have the hinge loss, which RKS has as well, and with another loss in CV the two "
    "would differ by more than kernel stability",
)
CPUSMALL = OpenQuestion(
    "rows of cpusmall and space-ga",
    "random 2,000 and 2,000",
    "50 splits of 31 spectra of 5,700 rows are a matter of days on two cores",
)

CLASSES = Protocol(
    "ks-classification", "svm", CLASSIFICATION, (GAUSSIAN,), PENALTIES, _methods("hinge", "lssvm"), 50, 0.7, "error",
    select_penalty=False, questions=(*QUESTIONS, FOR_SVM, LOSSES), fewer_splits=(("a2a", 10),),
)  # fmt: skip
VALUES = replace(
    CLASSES, name="ks-regression", machine="krr", datasets=REGRESSION, methods=_methods("squared", None), metric="mse",
    fewer_splits=(("cpusmall", 10), ("space-ga", 10), ("mg", 10)),
    rows=(("cpusmall", 2000), ("space-ga", 2000)), questions=(*QUESTIONS, CPUSMALL),
)  # fmt: skip
BY_ETA = replace(
    CLASSES,
    name="ks-eta",
    penalties=(1.0,),
    select_penalty=True,
    methods=tuple(
        Method(name, criterion, t, setting=f"{eta:g}")
        for eta in ETAS
        for name, criterion, t in (
            ("5-CVKS", CVKS(eta=eta, loss="hinge", aggregate="folds"), 5),
            ("10-CVKS", CVKS(eta=eta, loss="hinge", aggregate="folds"), 10),
            ("RKS", RKS(eta=eta), None),
        )
    ),
)

_CLAIMS = (
    Claim("5-CVKS gains better accuracy than 5-CV on most data sets.", "5-CVKS", "is better than", "5-CV"),
    Claim("10-CVKS gains better accuracy than 10-CV on most data sets.", "10-CVKS", "is better than", "10-CV"),
    Claim("For nλ = 1 5-CVKS is never significantly worse than 5-CV.", "5-CVKS", "is not worse than", "5-CV", "1"),
    Claim("For nλ = 1 10-CVKS is never significantly worse than 10-CV.", "10-CVKS", "is not worse than", "10-CV", "1"),
    Claim("RKS is significantly better than SPS on most data sets.", "RKS", "is better than", "SPS"),
    Claim("5-CVKS outperforms BR.", "5-CVKS", "is better than", "BR"),
    Claim("10-CVKS outperforms BR.", "10-CVKS", "is better than", "BR"),
    Claim("BR is comparable to or better than ELOO.", "BR", "is not worse than", "ELOO"),
    Claim("5-CVKS and 10-CVKS give comparable results.", "5-CVKS", "does not differ from", "10-CVKS"),
    Claim("5-CVKS and RKS give comparable results.", "5-CVKS", "does not differ from", "RKS"),
    Claim("10-CVKS and RKS give comparable results.", "10-CVKS", "does not differ from", "RKS"),
)
STABLE_CVKS, STABLE_RKS = (tuple(f"{2.0**i:g}" for i in range(first, last)) for first, last in ((-3, 2), (-4, 0)))
_STABLE = tuple(
    Claim(
        f"The performance of {method} is stable for η from {settings[0]} to {settings[-1]} on most data sets.",
        method, "does not differ from", method, within=settings,
    )
    for method, settings in (("5-CVKS", STABLE_CVKS), ("10-CVKS", STABLE_CVKS), ("RKS", STABLE_RKS))
)  # fmt: skip
HEADED_EP = (
    "The last column is headed SPS in the caption and for nλ = 0.1, and EP for nλ = 1, 10 and 100; the text compares "
    "with SPS only, so that all four are taken for SPS."
)


def _tried(key: str) -> tuple[str, ...]:
    return (
        f"The ridge nλ/n in place of nλ: {key}+over-n.",
        "A bias, and the ridge 1/(nλ), on a few splits.",
    )


BY_LOSS = "The 0-1 loss, which the table reports, in CV, CVKS and ELOO: ks:2+errors."
STUDIES = (
    Study("ks:2", PAPER, "Table II: test errors (%), SVM", CLASSES, "%", "ks-2.csv", _CLAIMS, (HEADED_EP,),
          tried=(*_tried("ks:2"), BY_LOSS)),
    Study("ks:3", PAPER, "Table III: test mean squared errors, KRR", VALUES, "MSE", "ks-3.csv", _CLAIMS,
          tried=_tried("ks:3")),
    Study("ks:fig2", PAPER, "Figure 2: test errors (%) of SVM by η, nλ = 1", BY_ETA, "%", claims=_STABLE),
)  # fmt: skip

OVER_ROWS = OpenQuestion(
    "penalty",
    "the printed nλ divided by the number of rows",
    "hypothesis: the errors hardly grow from nλ = 0.1 to 100 in print, as if λ itself were the ridge",
)

BY_ERRORS = OpenQuestion(
    "the loss that cross-validation averages",
    "the share of errors in CV, CVKS and ELOO",
    "hypothesis: the criteria average what the table reports",
)

VARIANTS = (
    *(study.variant("over-n", OVER_ROWS, "ridge nλ/n", power_of_rows=-1) for study in STUDIES[:2]),
    STUDIES[0].variant("errors", BY_ERRORS, "0-1 loss", methods=_methods("error", "lssvm", "error")),
)
