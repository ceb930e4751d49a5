"""Diagnosis of data: the bag problem that they pose."""

from __future__ import annotations

import copy
from typing import Any

from sklearn.utils import check_random_state

from fuzzymil._utils.errors import InputError
from fuzzymil.bags import BagStream
from fuzzymil.estimators._network import Network
from fuzzymil.learn.choose import DataDiagnosis, diagnose
from fuzzymil.learn.train.partition import sampled_by_class
from fuzzymil.learn.train.progress import counting_bar
from fuzzymil.learn.train.scaling import Measures


class DataDiagnosing(Network):
    """Estimators that say which bag problem some data pose."""

    def diagnose_data(self, bags: Any, y: Any = None) -> DataDiagnosis:
        """Find out which bag problem some data pose; the model is neither used nor changed.

        Each kind of rule (one condition on some instance, averages, several conditions together, counts, prototypes) is
        compared on held-out bags with sober baselines: the number of instances alone, a random forest and a linear
        model on the mean, minimum and maximum of each feature in a bag, and the majority class or mean.

        Parameters
        ----------
        bags : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Label of each bag. Default: the labels of the bags.

        Returns
        -------
        DataDiagnosis
            ``print`` it.

        Notes
        -----
        Of the model, only ``n_rules``, ``max_conditions``, ``random_state`` and ``verbose`` count. All bags have equal
        weights, and missing values are allowed. The penalty of the rules and of the linear model is the best one on the
        same folds, so their results are a little too good: `cross_val_scores` or ``fuzzymil evaluate`` tell how good a
        model will be on new bags.

        Examples
        --------
        >>> from fuzzymil import MIANFISClassifier
        >>> from fuzzymil.datasets import make_planted
        >>> bags = make_planted("pair", n_bags=100, n_noise=2, random_state=0)
        >>> found = MIANFISClassifier(random_state=0).diagnose_data(bags)
        >>> found.kind
        'conjunctions'
        >>> print(found.facts())
        100 bags, 713 instances (4-10 per bag), 4 features, 0 missing values
        0: 50 bags, 4-10 instances each (median 6.5)
        1: 50 bags, 4-10 instances each (median 7.5)
        """
        if isinstance(bags, BagStream):
            raise InputError("diagnose_data takes bags in memory: pass one part of the stream, or some joined.")
        kind = type(self)
        # Other settings, such as those of training, have nothing to do with the data.
        model = kind(
            n_rules=self.n_rules,
            max_conditions=self.max_conditions,
            missing="ignore",
            verbose=self.verbose,
            random_state=copy.deepcopy(self.random_state),
        )
        model._check_settings()
        everything = model._bags_to_fit(bags, resumes=False)
        coding = model._encode(everything, y, None, resumes=False, classes=None)
        _, places, _ = sampled_by_class(everything, coding.groups)
        with counting_bar("Comparing methods", enabled=bool(self.verbose)) as progress:
            return diagnose(
                everything,
                coding.targets,
                coding.groups,
                places=places,
                labels=None if coding.classes is None else coding.classes.tolist(),
                scaling=model._scaling(Measures.of_bags(everything), coding.targets),
                outputs=coding.outputs,
                n_rules=self.n_rules,
                max_conditions=self.max_conditions,
                rng=check_random_state(model.random_state),
                progress=progress,
            )
