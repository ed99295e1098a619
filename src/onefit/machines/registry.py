"""Which estimators the fast path understands: machines, and what stands around them.

A machine (an SVC, a KernelRidge, …) is read by the function that is registered for its class. A wrapper (a Pipeline, a
TransformedTargetRegressor, …) is read as a ``Layer`` in the same way; ``read_model`` takes a model apart, layer by
layer, down to the estimator that is the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .. import _register_known_estimators
from .._exceptions import NotUnderstoodError
from ..kernels import Precomputed
from .contract import Learner, Machine


@dataclass(frozen=True)
class _Reader:
    """How a class of estimators is read, and the class of the learner that it is read as."""

    read: Callable[[Any], Machine]
    learner: Any


_READERS: dict[type, _Reader] = {}
_LINEAR_READERS: dict[type, _Reader] = {}  # of machines that are linear in rows, which have to be explicit features


def register_reader(estimator_class: type, reader: Callable[[Any], Machine], learner: type) -> None:
    """Teach the fast path a class of estimators: ``reader(estimator)`` returns its Machine, with such a ``learner``."""
    _READERS[estimator_class] = _Reader(reader, learner)


def register_linear_reader(estimator_class: type, reader: Callable[[Any], Machine], learner: type) -> None:
    """Teach the fast path a class of linear machines: it is taken behind transformers that make explicit features."""
    _LINEAR_READERS[estimator_class] = _Reader(reader, learner)


def read_linear_machine(estimator: Any) -> Machine | None:
    """The linear machine that an estimator is, with the linear kernel; None if it is not known to be one."""
    _register_known_estimators()
    reader = _LINEAR_READERS.get(type(estimator))
    return None if reader is None else reader.read(estimator)


def read_machine(estimator: Any) -> Machine:
    """The machine that an estimator with its parameters is; NotUnderstoodError names what stands in the way.

    Only the classes themselves are read, not classes derived from them, which may do anything.
    """
    if type(estimator) not in _READERS:
        _register_known_estimators()
    reader = _READERS.get(type(estimator))
    if reader is None:
        able = ", ".join(sorted(cls.__name__ for cls in _READERS))
        raise NotUnderstoodError(f"{type(estimator).__name__} has no fast path ({able} have)")
    return reader.read(estimator)


def is_known(estimator: Any) -> bool:
    """Whether the fast path understands its class, or one that it is derived from."""
    _register_known_estimators()
    return isinstance(estimator, tuple(_READERS))


def estimators_that_offer(capabilities: Iterable[str]) -> list[str]:
    """The names of the estimators whose learner offers all of some capabilities."""
    _register_known_estimators()
    wanted = set(capabilities)
    return [cls.__name__ for cls, reader in _READERS.items() if wanted <= reader.learner.offers]


def estimators_read_as(learner: Learner) -> list[str]:
    """The names of the estimators that are read as this kind of learner."""
    _register_known_estimators()
    return [cls.__name__ for cls, reader in _READERS.items() if reader.learner is type(learner)]


@dataclass(frozen=True)
class Layer:
    """One wrapper: the estimator inside, by which ``name`` its parameters are known, and the metadata of its ``fit``.

    ``transformers`` is None or a Pipeline that rows go through, with metadata of its own. ``resamples`` says that the
    wrapper chooses or makes the training rows, ``transforms_target`` that it is a TransformedTargetRegressor.
    ``separate`` says that a clone is trained on each of the "outputs" of a regression, or on each of the "classes"
    against the rest. ``prefixed`` says that metadata of the inner estimator are called ``name__metadata``.
    """

    inner: Any
    name: str
    params: dict[str, Any] = field(default_factory=dict)
    transformers: Any = None
    transformer_params: dict[str, Any] = field(default_factory=dict)
    resamples: bool = False
    transforms_target: bool = False
    separate: str | None = None
    prefixed: bool = False


Unwrap = Callable[[Any, dict[str, Any]], Layer]
"""From a wrapper and the metadata of its ``fit`` to its layer; NotUnderstoodError says what stands in the way."""

_WRAPPERS: dict[type | str, Unwrap] = {}


def register_wrapper(wrapper: type | str, unwrap: Unwrap) -> None:
    """Teach the fast path a class of wrappers: the class, or its module and name where it is not to be imported."""
    _WRAPPERS[wrapper] = unwrap


@dataclass(frozen=True)
class Model:
    """A model taken apart: the estimator that is the machine (``final``), and what stands around it.

    ``prefix`` is that of the machine's parameters, ``weight_name`` the name of its weights among the metadata of
    ``fit``. ``transformers`` are those of all Pipelines; ``sees_transformed`` and ``sees_separate`` say whether they
    learn from the transformed target, and from that of each separate machine. ``target`` is the
    TransformedTargetRegressor, if there is one, and ``separate`` is that of a layer. ``place`` is the parameter that
    holds the machine, or the wrapper that trains it separately.
    """

    whole: Any
    final: Any
    prefix: str
    sample_weight: Any
    weight_name: str
    place: str
    transformers: Any = None
    transformer_params: dict[str, Any] = field(default_factory=dict)
    sees_transformed: bool = False
    sees_separate: bool = False
    target: Any = None
    separate: str | None = None
    resamples: bool = False

    @property
    def plain(self) -> bool:
        """Whether nothing but transformers stands before the machine."""
        return self.target is None and self.separate is None and not self.resamples

    def transformed(self, X: Any, y: Any) -> Any:
        """All rows after transformers that learn from all of them."""
        if self.transformers is None:
            return X
        return clone(self.transformers).fit_transform(X, y, **self.transformer_params)

    def machine(self) -> Machine:
        """The machine with its parameters; NotUnderstoodError names what stands in the way."""
        machine = read_machine(self.final)
        if isinstance(machine.kernel, Precomputed):
            if self.transformers is not None or self.resamples:
                raise NotUnderstoodError("transformers stand before a precomputed kernel")
            if not get_tags(self.whole).input_tags.pairwise:
                raise NotUnderstoodError(f"{type(self.whole).__name__} takes no precomputed kernel")
        if self.separate is None:
            return machine
        if len(machine.penalties) > 1:
            raise NotUnderstoodError("alpha has several values, and every output is trained by itself")
        if machine.class_weight not in (None, "balanced"):
            raise NotUnderstoodError("class_weight names classes, and every class is trained against the rest")
        return replace(machine, pairs=None, separate=self.separate)


def read_model(estimator: Any, fit_params: dict[str, Any] | None = None) -> Model:
    """Take a model apart; NotUnderstoodError names what the fast path does not do.

    From the outside in, a model is any number of Pipelines, a transformed target, more Pipelines, one machine for each
    output or class, more Pipelines, and the machine; transformers stand at one of these places only.
    """
    final, params, found = estimator, dict(fit_params or {}), []
    while (unwrap := _unwrap_of(final)) is not None:
        layer = unwrap(final, params)
        found.append((final, layer))
        final, params = layer.inner, layer.params
    layers = [layer for _, layer in found]
    if unknown := sorted(set(params) - {"sample_weight"}):
        raise NotUnderstoodError(f"{'the final step' if layers else 'fit'} takes {', '.join(unknown)}")
    resamples = any(layer.resamples for layer in layers)
    _check_order(layers)
    if resamples and any(layer.params or layer.transformer_params for layer in layers):
        raise NotUnderstoodError("samplers change the training rows, and fit is given metadata of rows")
    names = [layer.name for layer in layers]
    separately = next((k for k, layer in enumerate(layers) if layer.separate), len(layers))
    transformed = next((k for k, layer in enumerate(layers) if layer.transforms_target), len(layers))
    first = next((k for k, layer in enumerate(layers) if layer.transformers is not None), -1)
    transformers, transformer_params = _joined([layer for layer in layers if layer.transformers is not None])
    return Model(
        estimator,
        final,
        "".join(f"{name}__" for name in names),
        params.get("sample_weight"),
        "".join(f"{layer.name}__" for layer in layers if layer.prefixed) + "sample_weight",
        "__".join(names[:separately]),
        transformers,
        transformer_params,
        first > transformed,
        first > separately,
        found[transformed][0] if transformed < len(layers) else None,
        layers[separately].separate if separately < len(layers) else None,
        resamples,
    )


def innermost(estimator: Any) -> tuple[str, Any]:
    """(prefix of its parameters, estimator) at the end of Pipelines and inside of other wrappers."""
    prefix = ""
    while True:
        if isinstance(estimator, Pipeline):
            name, inner = estimator.steps[-1]
        elif (unwrap := _unwrap_of(estimator)) is not None:
            layer = unwrap(estimator, {})
            name, inner = layer.name, layer.inner
        else:
            return prefix, estimator
        prefix, estimator = f"{prefix}{name}__", inner


def _unwrap_of(estimator: Any) -> Unwrap | None:
    """How a wrapper is read; None for an estimator that is none."""
    if Pipeline not in _WRAPPERS:
        _register_known_estimators()
    cls = type(estimator)
    unwrap = _WRAPPERS.get(cls) or _WRAPPERS.get(f"{cls.__module__}.{cls.__qualname__}")
    if unwrap is None and isinstance(estimator, Pipeline):
        raise NotUnderstoodError(f"{cls.__name__} is derived from Pipeline and may do anything")
    return unwrap


def _check_order(layers: list[Layer]) -> None:
    """Refuse wrappers in an order, or transformers at places, that views of the folds do not have."""
    transformed = separate = resamples = False
    places = set()
    for layer in layers:
        if layer.transformers is not None:
            places.add((transformed, separate))
        if layer.resamples and (transformed or separate):
            raise NotUnderstoodError("samplers stand inside of another wrapper")
        resamples |= layer.resamples
        if layer.transforms_target and (transformed or separate or resamples):
            raise NotUnderstoodError("the target is transformed inside of another wrapper that changes it")
        transformed |= layer.transforms_target
        if layer.separate and separate:
            raise NotUnderstoodError("machines are trained separately inside of others that are")
        separate |= layer.separate is not None
    if len(places) > 1:
        raise NotUnderstoodError("transformers stand both outside and inside of a wrapper that changes the target")
    if resamples and (False, True) in places:
        raise NotUnderstoodError("transformers stand inside of machines that are trained separately, behind samplers")


def _joined(layers: list[Layer]) -> tuple[Any, dict[str, Any]]:
    """(transformers, their metadata) of Pipelines inside one another."""
    if len(layers) < 2:
        return (layers[0].transformers, layers[0].transformer_params) if layers else (None, {})
    if any(layer.transformer_params for layer in layers):
        raise NotUnderstoodError("transformers of Pipelines inside one another are given metadata")
    return Pipeline([(f"pipeline{k}", layer.transformers) for k, layer in enumerate(layers)]), {}
