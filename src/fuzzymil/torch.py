"""Rules as a layer of a PyTorch network."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from numbers import Integral
from typing import Any, Self

import numpy as np

from fuzzymil._utils.errors import MissingExtraError

try:
    import torch
    from torch import Tensor, nn
except ImportError:
    raise MissingExtraError(
        'fuzzymil.torch needs PyTorch, which is not installed: pip install "fuzzymil[torch]".'
    ) from None

from fuzzymil._utils.arrays import Array, matrix
from fuzzymil._utils.errors import InputError, InputTypeError, ParameterError, described, known_name
from fuzzymil.inference.engines.torch import Packed, Padded
from fuzzymil.inference.layers import Layers, Params, forward
from fuzzymil.inference.membership import Gaussian, MembershipFunction, family
from fuzzymil.learn.train.constraints import limits_of
from fuzzymil.learn.train.partition import PARTITIONS, centers_by, default_width
from fuzzymil.rules import Rule, RuleBase

# ---------------------------------------------------------------------- bags of tensors, packed or padded


def checked_instances(x: Any) -> Tensor:
    """Return a tensor of real numbers; raise if it is anything else."""
    if not isinstance(x, Tensor):
        raise InputTypeError(f"Instances must be a tensor, got {described(x)}: use torch.as_tensor(...).")
    if x.is_complex():
        raise InputTypeError(f"Instances must be real numbers, got {x.dtype}.")
    if x.layout != torch.strided or x.is_nested:
        advice = "use x.to_dense(), pad them, or pack them with offsets="
        raise InputTypeError(f"Instances must be a dense tensor, got one of layout {x.layout}: {advice}.")
    return x


def grouped(
    x: Tensor, n_features: int, offsets: Any, index: Any, n_bags: int | None, mask: Any
) -> tuple[Tensor, Packed | Padded]:
    """Return the instances (i, d) of all bags, and which belong to which bag."""
    if x.ndim not in (2, 3) or x.shape[-1] != n_features:
        shapes = f"packed (instances, {n_features}) or padded (bags, instances, {n_features})"
        raise InputError(f"Expected instances of {n_features} features, {shapes}, got shape {tuple(x.shape)}.")
    if n_bags is not None and index is None:
        raise InputError("n_bags= goes with index= only: offsets= and padded bags tell the number of bags themselves.")
    if x.ndim == 3:
        if offsets is not None or index is not None:
            raise InputError("Padded bags (bags, instances, features) take mask=, not offsets= or index=.")
        return _padded(x, mask)
    if mask is not None or (offsets is None) == (index is None):
        which = "offsets=, where each bag begins and the last one ends, or index=, the number of each one's bag"
        raise InputError(f"Packed instances (instances, features) need either {which}.")
    if index is not None:
        return x, _indexed(x, index, n_bags)
    offsets = _checked_offsets(offsets, x)
    places = torch.arange(len(x), device=x.device)
    # Not offsets[1:]: compiled for a GPU, bucketize would read such a view from its first number, the 0.
    return x, Packed(torch.bucketize(places, offsets, right=True) - 1, len(offsets) - 1)


def _padded(x: Tensor, mask: Any) -> tuple[Tensor, Padded]:
    if mask is None:
        return x.flatten(0, 1), Padded(torch.ones(x.shape[:2], dtype=torch.bool, device=x.device))
    real = _tensor("mask", mask, x)
    if real.shape != x.shape[:2]:
        expected = f"(bags, instances) of the padded bags, {tuple(x.shape[:2])}"
        raise InputError(f"mask must have the shape {expected}, got {tuple(real.shape)}.")
    if not _whole(real):
        advice = "use mask.bool() if it is 1 and 0, and mask == 0 if it is 0 and -inf, as attention layers add it"
        raise InputTypeError(f"mask must be True where an instance is, False elsewhere, got {real.dtype}: {advice}.")
    real = real.bool()
    if not x.shape[1]:
        return x.flatten(0, 1), Padded(real)
    # Padding repeats an instance of its bag: whatever stands there could overflow, and the gradient would be NaN.
    first = real.int().argmax(dim=1)[:, None, None].expand(-1, 1, x.shape[2])
    instead = torch.where(real.any(dim=1)[:, None, None], x.detach().gather(1, first), 0.0)
    return torch.where(real[:, :, None], x, instead).flatten(0, 1), Padded(real)


def _indexed(x: Tensor, index: Any, n_bags: int | None) -> Packed:
    numbers = _tensor("index", index, x)
    if numbers.shape != (len(x),) or not _whole(numbers):
        came = f"{numbers.dtype} of shape {tuple(numbers.shape)}"
        raise InputError(f"index must be a whole number for each of the {len(x)} instances, got {came}.")
    if n_bags is not None and (not isinstance(n_bags, int | np.integer | torch.SymInt) or n_bags < 0):
        raise InputError(f"n_bags must be a whole number, at least 0, got {described(n_bags)}.")
    numbers = numbers.long()
    if n_bags is None:
        n_bags = int(numbers.max()) + 1 if len(x) else 0
    if len(x) and _can_be_seen(numbers):
        low, high = int(numbers.min()), int(numbers.max())
        if low < 0 or high >= n_bags:
            raise InputError(f"index must count bags from 0 to n_bags - 1 = {n_bags - 1}, goes from {low} to {high}.")
    return Packed(numbers, n_bags)


def _checked_offsets(offsets: Any, x: Tensor) -> Tensor:
    found = _tensor("offsets", offsets, x)
    if found.ndim != 1 or len(found) < 2 or not _whole(found):
        raise InputError(f"offsets must be n_bags + 1 whole numbers, got {found.dtype} of shape {tuple(found.shape)}.")
    found = found.long()
    if isinstance(offsets, list | tuple | range):  # also in a compiled program, or for a GPU
        falls = [b for b in range(len(offsets) - 1) if offsets[b + 1] < offsets[b]]
    elif _can_be_seen(found):
        falls = (found.diff() < 0).nonzero().flatten().tolist()
        offsets = found
    else:
        return found
    for at in falls[:1]:
        one, other = (f"offsets[{place}] = {int(offsets[place])}" for place in (at + 1, at))
        raise InputError(f"offsets must ascend, but {one} is less than {other}.")
    first, last = offsets[0], offsets[-1]
    if first != 0 or last != len(x):
        came = f"{int(first)} to {int(last)}"
        raise InputError(f"offsets must go from 0 to the number of instances, {len(x)}; they go from {came}.")
    return found


def _tensor(name: str, values: Any, x: Tensor) -> Tensor:
    """Return what a user passed as a tensor, on the device of the instances unless it is a tensor already."""
    if isinstance(values, Tensor):
        return values
    try:
        found = torch.tensor(list(values) if isinstance(values, range) else values)
    except (TypeError, ValueError, RuntimeError) as problem:
        raise InputTypeError(f"{name} must be a tensor or a sequence of numbers: {problem}") from None
    return found.to(x.device)


def _whole(values: Tensor) -> bool:
    return not (values.is_floating_point() or values.is_complex())


def _can_be_seen(values: Tensor) -> bool:
    """Return whether numbers can be looked at: compiled programs cannot, and on a GPU all would wait for it."""
    return not torch.compiler.is_compiling() and values.device.type == "cpu"


# ---------------------------------------------------------------------- the numbers of rules as parameters

Options = dict[str, Any]
"""Device and precision of tensors."""


class Numbers(nn.Module):
    """Numbers that training moves, except where they are fixed."""

    def __init__(self, values: Array, options: Options, trained: bool = True) -> None:
        super().__init__()
        start = torch.tensor(values, **options)
        if trained:
            self.value = nn.Parameter(start)
        else:
            self.register_buffer("value", start)
        # Fixed numbers are kept apart: an optimizer with weight decay moves parameters that have no gradient.
        self.register_buffer("fixed", torch.zeros_like(start, dtype=torch.bool))
        self.register_buffer("kept", start.clone())

    def forward(self) -> Tensor:
        """Return the numbers."""
        return torch.where(self.fixed, self.kept, self.value)

    def fix(self, places: Array) -> None:
        """Fix the numbers at some places, and no others, at their present values."""
        with torch.no_grad():
            self.kept.copy_(self.forward())
            self.value.copy_(self.kept)
            self.fixed.copy_(torch.tensor(places).expand_as(self.value))

    def exported(self, start: Array) -> Array:
        """Return the numbers in 64 bit; where they are those of ``start``, with all its digits."""
        now = self.forward().detach()
        same = now == torch.as_tensor(start).to(now)
        return np.where(same.cpu().numpy(), start, now.double().cpu().numpy())


class Terms(nn.Module):
    """The fuzzy sets of one family: the free parameters of each term, at the places of the conditions that use it."""

    def __init__(self, kind: str, sets: list[MembershipFunction], places: Array, options: Options) -> None:
        super().__init__()
        self.kind = kind
        self._sets = sets
        self._places = places  # -1: no condition
        self.numbers = nn.ModuleList([Numbers(values, options) for values in self._free()])
        self.register_buffer("places", torch.tensor(np.maximum(places, 0), device=options["device"]), persistent=False)
        self.register_buffer("mask", torch.tensor(places >= 0).to(**options), persistent=False)

    def _free(self) -> tuple[Array, ...]:
        parameters = np.array([each.parameters for each in self._sets]).T
        return tuple(np.asarray(values) for values in family(self.kind).to_free(*parameters))

    def forward(self) -> tuple[Tensor, ...]:
        """Return the parameters of the sets at their places, (rows, d) each."""
        parameters = family(self.kind).from_free(*(numbers() for numbers in self.numbers))
        return tuple(values[self.places] for values in parameters)

    def fix_places(self, places: Array) -> None:
        """Fix the terms of the conditions that an array (rows, d) of truth values marks, and no others."""
        own = self._places >= 0
        terms = np.zeros(len(self._sets), bool)
        terms[self._places[own]] = places[own]
        for numbers in self.numbers:
            numbers.fix(terms)

    def exported(self) -> tuple[Array, ...]:
        """Return the parameters at their places, in 64 bit; terms that did not move keep all digits."""
        free = self._free()
        now = [numbers.exported(start) for numbers, start in zip(self.numbers, free, strict=True)]
        same = np.all([one == start for one, start in zip(now, free, strict=True)], axis=0)
        before = np.array([each.parameters for each in self._sets]).T
        after = family(self.kind).from_free(*now)
        places = np.maximum(self._places, 0)
        return tuple(np.where(same, old, new)[places] for old, new in zip(before, after, strict=True))


_OTHER_FIELDS = ("variables", "rules", "outputs", "comment")  # of a rule base; all others are operators


class FuzzyBagHead(nn.Module):
    """If-then rules over bags of instances, as a layer of a network.

    Instances, such as the features that a convolutional network finds in the patches of an image, go in; one row of
    outputs per bag comes out. The head computes the same six layers as `RuleBase.infer`, with gradients by the rules
    and by the instances, and `rules` returns what it has learned as a `RuleBase`.

    Training is that of `MIANFISClassifier`: a width moves by its logarithm, and a term that several rules use stays one
    set. The parameters are in ``premises`` (fuzzy sets), ``conclusions``, ``default`` (of additive rules) and, if they
    are learned, ``alpha`` and ``conclusion_alpha``, so that an optimizer can treat them differently.

    Parameters
    ----------
    rules : RuleBase
        Where training starts. To start without rules, use `from_instances`.
    frozen : str or sequence of str, default ()
        What training leaves as it is; see `freeze`.
    learn_alpha : bool, default False
        Whether the sharpness of the softmax over instances, ``alpha`` and ``conclusion_alpha``, is trained, too.
    missing_values : bool, default False
        Whether NaN is a missing value, with membership 1 in every set as in `RuleBase.infer`. If not, it propagates to
        the output.
    device, dtype
        Where the parameters are, and their precision, as in other modules. Default: PyTorch's.

    Examples
    --------
    >>> import torch
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.parse('''
    ... VARIABLE hue: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1)
    ... IF hue is blue THEN sky = 1
    ... IF hue is red THEN sky = 0
    ... ''')
    >>> head = FuzzyBagHead(rules)

    Two bags of one and two instances, packed one after another:

    >>> instances = torch.tensor([[0.6], [0.1], [0.2]])
    >>> head(instances, offsets=[0, 1, 3]).round(decimals=2).tolist()
    [[1.0], [0.0]]

    The same bags, padded to the same size:

    >>> padded = torch.tensor([[[0.6], [0.0]], [[0.1], [0.2]]])
    >>> head(padded, mask=torch.tensor([[True, False], [True, True]])).round(decimals=2).tolist()
    [[1.0], [0.0]]

    A step of training that leaves the second rule as it is, and the rules after it:

    >>> head = head.freeze("rule 2")
    >>> optimizer = torch.optim.SGD(head.parameters(), lr=0.5)
    >>> (head(instances, offsets=[0, 1, 3])[0] - 2).square().backward()
    >>> optimizer.step()
    >>> print(head.rules())
    Rule 1: IF hue is blue THEN sky = 2
    Rule 2: IF hue is red THEN sky = 0
    """

    def __init__(
        self,
        rules: RuleBase,
        *,
        frozen: str | Iterable[str] = (),
        learn_alpha: bool = False,
        missing_values: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if not isinstance(rules, RuleBase):
            advice = "use RuleBase.parse(text), RuleBase.from_arrays(...) or FuzzyBagHead.from_instances(...)"
            raise ParameterError(f"FuzzyBagHead needs a RuleBase, got {type(rules).__name__}: {advice}.")
        if rules.concludes_sets:
            raise ParameterError("FuzzyBagHead needs rules that conclude numbers: use rules.to_sugeno().")
        self._start = rules
        self._names_terms = False
        self.missing_values = missing_values
        params, _, self._operators = rules.compile()
        options = {"device": device, "dtype": torch.get_default_dtype() if dtype is None else dtype}
        self.premises = nn.ModuleList(_terms_of(rules, options))
        self.conclusions = Numbers(params.coefs, options)
        self.default = Numbers(params.default, options, trained=not rules.normalize)
        self.alpha = Numbers(params.alpha, options, trained=learn_alpha)
        self.conclusion_alpha = Numbers(params.conclusion_alpha, options, trained=learn_alpha)
        stand_for = None if params.missing_values is None else torch.tensor(params.missing_values, **options)
        self.register_buffer("_missing_values", stand_for, persistent=False)
        for end, nothing in (("low", -np.inf), ("high", np.inf)):
            values = [getattr(variable, end) for variable in rules.variables]
            limits = torch.tensor([nothing if value is None else value for value in values], **options)
            self.register_buffer(f"_{end}", limits, persistent=False)
        self.freeze(*((frozen,) if isinstance(frozen, str) else frozen))

    @classmethod
    def from_instances(
        cls,
        instances: Any,
        n_rules: int,
        *,
        n_outputs: int = 1,
        order: int = 0,
        init: str = "kmeans",
        random_state: int | None = None,
        feature_names: Iterable[str] | None = None,
        output_names: Iterable[str] | None = None,
        frozen: str | Iterable[str] = (),
        learn_alpha: bool = False,
        missing_values: bool = False,
        device: Any = None,
        dtype: Any = None,
        **operators: Any,
    ) -> Self:
        """Start with rules at the centers of clusters of instances, all concluding 0.

        `rules` then names the terms by where they are after training: *low*, *medium*, *high*.

        Parameters
        ----------
        instances : array or tensor of shape (n_instances, n_features)
            A sample of the features that the head will see. With ``missing_values``, instances with NaN are left out.
        n_rules : int
        n_outputs : int, default 1
        order : {0, 1}, default 0
            Whether rules conclude numbers, or linear functions of the features.
        init : {"fcm", "kmeans", "random", "grid", "subtractive", "wang-mendel"}, default "kmeans"
            How the centers are found; the last two may find fewer.
        random_state : int, optional
        feature_names, output_names : sequences of str, optional
        frozen, learn_alpha, missing_values, device, dtype
            As in `FuzzyBagHead`; the terms of rule 1 are all named *rule 1* here.
        **operators
            As in `RuleBase`: ``aggregation``, ``alpha``, ``normalize`` and others.

        Examples
        --------
        >>> import torch
        >>> instances = torch.tensor([[0.0, 0.1], [0.1, 0.0], [1.0, 0.9], [0.9, 1.0]])
        >>> head = FuzzyBagHead.from_instances(instances, n_rules=2, random_state=0, output_names=["bright"])
        >>> print(head.rules())
        Rule 1: IF x1 is high AND x2 is high THEN bright = 0
        Rule 2: IF x1 is low AND x2 is low THEN bright = 0
        """
        known_name("init", init, PARTITIONS)
        if order not in (0, 1):
            raise ParameterError(f"order must be 0 or 1, got {order!r}.")
        for name, value in (("n_rules", n_rules), ("n_outputs", n_outputs)):
            if not isinstance(value, Integral) or value < 1:
                raise ParameterError(f"{name} must be a whole number, at least 1, got {value!r}.")
        settings = [field.name for field in dataclasses.fields(RuleBase) if field.name not in _OTHER_FIELDS]
        for name in operators:
            known_name("operator", name, settings)
        x = _sample(instances, missing_values)
        middle, scale = x.mean(axis=0), x.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        rng = np.random.RandomState(random_state)
        centers = middle + scale * centers_by(init, (x - middle) / scale, n_rules, rng)
        widths = np.broadcast_to(scale * default_width(x.shape[1]), centers.shape)
        coefs = np.zeros((len(centers), n_outputs, 1 + order * x.shape[1]))
        named = RuleBase.from_arrays(
            centers, widths, coefs, feature_names=feature_names, output_names=output_names, **operators
        )
        start = _with_sets_of_their_own(named, centers, widths)
        head = cls(
            start, frozen=frozen, learn_alpha=learn_alpha, missing_values=missing_values, device=device, dtype=dtype
        )
        head._names_terms = True
        return head

    # ------------------------------------------------------------------ inference

    def forward(
        self, x: Tensor, *, offsets: Any = None, index: Any = None, n_bags: int | None = None, mask: Any = None
    ) -> Tensor:
        """Return the outputs of bags.

        Parameters
        ----------
        x : tensor of shape (n_instances, n_features) or (n_bags, n_places, n_features)
            The instances of all bags, packed or padded. They are computed in the precision of the rules.
        offsets : tensor or sequence of shape (n_bags + 1,), optional
            For packed instances in the order of their bags: bag b has the rows from ``offsets[b]`` to
            ``offsets[b + 1]``, as in `Bags`.
        index : tensor or sequence of shape (n_instances,), optional
            For packed instances in any order: the number of each one's bag, counted from 0.
        n_bags : int, optional
            With ``index``, the number of bags. Default: up to the greatest in ``index``; ``torch.compile`` needs to be
            told, because that depends on the data.
        mask : tensor or sequence of bool of shape (n_bags, n_places), optional
            For padded bags: where instances are. Default: everywhere.

        Returns
        -------
        tensor of shape (n_bags, n_outputs)
            Bags that are empty, or on which every rule is exactly zero, get the default.

        Notes
        -----
        Shapes are always checked, and so are the numbers of ``offsets`` in a list. Those of tensors are checked on a
        CPU only, outside compiled programs: to look at them elsewhere would make all computations wait.
        """
        found: Tensor = self.infer(x, offsets=offsets, index=index, n_bags=n_bags, mask=mask).output
        return found

    def infer(
        self, x: Tensor, *, offsets: Any = None, index: Any = None, n_bags: int | None = None, mask: Any = None
    ) -> Layers:
        """Return what every layer computed, as tensors with gradients; the arguments are those of `forward`.

        Returns
        -------
        Layers
            ``log_truth`` is (n_instances, n_parts), and (n_bags, n_places, n_parts) for padded bags, ``-inf`` where
            there is no instance: its greatest value over the instances of a bag is the witness of a rule.

        Examples
        --------
        >>> import torch
        >>> from fuzzymil import RuleBase
        >>> head = FuzzyBagHead(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]))
        >>> layers = head.infer(torch.tensor([[[0.1], [0.9], [0.4]]]))
        >>> layers.log_truth.argmax(dim=1).tolist()
        [[0, 1]]
        """
        x, dtype = checked_instances(x), self.conclusions.value.dtype
        with torch.autocast(x.device.type, enabled=False):
            rows, grouping = grouped(x.to(dtype), self._start.n_features, offsets, index, n_bags, mask)
            if self._start.limited:
                rows = rows.clamp(self._low, self._high)
            known = None
            if self.missing_values:
                known = (~rows.isnan()).to(dtype)
                rows = torch.where(known > 0, rows, 0.0)
            masks = {terms.kind: terms.mask for terms in self.premises}
            layers = forward(self._params(), masks, self._operators, rows, grouping, known=known)
            return self._completed(layers, grouping)

    def _params(self) -> Params:
        sets = {terms.kind: terms() for terms in self.premises}
        numbers = self.conclusions(), self.alpha(), self.conclusion_alpha(), self.default()
        return Params(sets, *numbers, self._missing_values)

    def _completed(self, layers: Layers, grouping: Any) -> Layers:
        """Return the layers with the default where no rule fires, and the truths in the shape of the bags."""
        found: dict[str, Any] = layers._asdict()
        empty = (grouping.sizes() == 0)[:, None]
        firing = torch.where(empty, -torch.inf, found["log_firing"])
        uncovered = firing.isneginf().all(dim=1, keepdim=True)
        found["log_firing"] = firing
        found["strengths"] = torch.where(uncovered, 0.0, found["strengths"])
        found["output"] = torch.where(uncovered, self.default(), found["output"])
        if isinstance(grouping, Padded):
            truth = torch.where(grouping.real.flatten()[:, None], found["log_truth"], -torch.inf)
            found["log_truth"] = truth.unflatten(0, grouping.real.shape)
        return Layers(**found)

    # ------------------------------------------------------------------ rules

    def rules(self) -> RuleBase:
        """Return the rules with their present numbers.

        What did not change has the digits it started with. Terms keep their names; those of `from_instances` are named
        anew.
        """
        start = self._start
        changes = {}
        for name in ("alpha", "conclusion_alpha"):
            before, numbers = np.asarray(getattr(start, name)), getattr(self, name)
            if isinstance(numbers.value, nn.Parameter) and np.isfinite(before).all():
                changes[name] = numbers.exported(before) if before.ndim else float(numbers.exported(before))
        sets = {terms.kind: terms.exported() for terms in self.premises}
        coefs, default = self.conclusions.exported(start.coefs), self.default.exported(np.array(start.default))
        params = Params(sets, coefs, None, None, default)
        found = start.with_numbers(params, **changes)
        return _named(found) if self._names_terms else found

    def freeze(self, *names: str) -> Self:
        """Fix parts of the rules at their present numbers, and let training move all others.

        Parameters
        ----------
        *names : str
            ``"rule 2"`` for a whole rule (its conclusion, and its terms in all rules that use them), ``"hue.dark"`` for
            a term, ``"hue"`` for all terms of a variable, ``"sky"`` for all conclusions about an output, and its
            default. None: everything moves.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
        >>> head = FuzzyBagHead(rules).freeze("hue.low", "rule 2")
        >>> head.conclusions.fixed.flatten().tolist()
        [False, True]
        """
        for name in names:
            if not isinstance(name, str):
                advice = "write freeze('hue.dark', 'rule 2'), or freeze(*names) for a list"
                raise ParameterError(f"freeze takes names one by one, got {described(name)}: {advice}.")
        limits = limits_of(self._start, names)
        for terms in self.premises:
            terms.fix_places(limits.sets == 0)
        self.conclusions.fix(limits.coefs == 0)
        self.default.fix(limits.default == 0)
        return self

    def extra_repr(self) -> str:
        rules = self._start
        return f"n_rules={rules.n_rules}, n_features={rules.n_features}, n_outputs={len(rules.outputs)}"


def _terms_of(rules: RuleBase, options: Options) -> list[Terms]:
    """Return the terms that the rules use, family by family."""
    known = {variable.name: variable.terms for variable in rules.variables}
    shape = rules.arrangement.n_rows, rules.n_features
    numbers: dict[str, dict[tuple[str, str], int]] = {}
    places: dict[str, Array] = {}
    for place, (name, term) in rules.arrangement.terms.items():
        kind = known[name][term].kind
        own = numbers.setdefault(kind, {})
        places.setdefault(kind, np.full(shape, -1))[place] = own.setdefault((name, term), len(own))
    if not numbers:  # no rule has a condition
        return [Terms("gaussian", [Gaussian(0.0, 1.0)], np.full(shape, -1), options)]
    return [
        Terms(kind, [known[name][term] for name, term in own], places[kind], options) for kind, own in numbers.items()
    ]


def _sample(instances: Any, missing_values: bool) -> Array:
    """Return instances (i, d) in 64 bit; those with missing values are left out."""
    if isinstance(instances, Tensor) and instances.is_floating_point():
        instances = instances.detach().cpu().double()  # NumPy has no bfloat16
    x = np.asarray(matrix(instances), np.float64)
    if missing_values:
        x = x[~np.isnan(x).any(axis=1)]
    odd = np.argwhere(~np.isfinite(x))
    if len(odd):
        row, column = odd[0].tolist()
        advice = "remove such instances, or pass missing_values=True if NaN is a missing value"
        raise InputError(f"Instances must be finite, but row {row}, column {column} is {x[row, column]}: {advice}.")
    if not len(x):
        raise InputError("There are no instances without missing values: pass a sample of what the head will see.")
    return x


def _with_sets_of_their_own(rules: RuleBase, centers: Array, widths: Array) -> RuleBase:
    """Return rules none of which share a set, even where two start out the same."""
    terms = [f"rule {r + 1}" for r in range(rules.n_rules)]
    variables = [
        dataclasses.replace(variable, terms=dict(zip(terms, map(Gaussian, centers[:, d], widths[:, d]), strict=True)))
        for d, variable in enumerate(rules.variables)
    ]
    both = zip(terms, rules.rules, strict=True)
    own = [Rule(dict.fromkeys(rules.feature_names, term), rule.coefs) for term, rule in both]
    return dataclasses.replace(rules, variables=tuple(variables), rules=tuple(own))


def _named(rules: RuleBase) -> RuleBase:
    """Return rules of Gaussian sets with terms named by their places."""
    params, masks, _ = rules.compile()
    names = [field.name for field in dataclasses.fields(rules) if field.name not in _OTHER_FIELDS]
    settings = {name: getattr(rules, name) for name in names}
    settings |= {"feature_names": rules.feature_names, "output_names": rules.output_names}
    return RuleBase.from_sets(params.sets, masks, params.coefs, **settings)
