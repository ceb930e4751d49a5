"""Peers on plain rows: a zero-order TSK system, or the nearest that a package has, in full batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import samples

from contestants.timing import epoch_timer
from fuzzymil.estimators import network_parameters

Task = Callable[[], float]


def _tasks(prepare: Callable[[np.ndarray, np.ndarray], Callable[[int], object]], sizes, n_features) -> dict[str, Task]:
    """``prepare`` gets the data and returns what trains a number of epochs."""
    return {f"{n:,} rows": epoch_timer(prepare(*samples.rows(n, n_features))) for n in sizes}


def bare_torch(sizes: list[int], n_features: int, n_rules: int) -> dict[str, Task]:
    """The loop one would write by hand: the expanded square as two matrix products, in logarithms, fused Adam."""
    import torch

    def prepare(x: np.ndarray, y: np.ndarray) -> Callable[[int], object]:
        inputs = torch.tensor(x, dtype=torch.float32)
        squares, target = inputs**2, torch.tensor(y, dtype=torch.float32)

        def fit(epochs: int) -> object:
            torch.manual_seed(0)
            centers = inputs[:n_rules].clone().requires_grad_()
            log_widths = torch.full((n_rules, n_features), 1.5).requires_grad_()
            outputs = torch.zeros(n_rules, requires_grad=True)
            optimizer = torch.optim.Adam([centers, log_widths, outputs], lr=0.03, fused=True)
            for _ in range(epochs):
                precision = torch.exp(-2 * log_widths)
                weighted = precision * centers
                constant = (weighted * centers).sum(1)
                log_truth = inputs @ weighted.T - 0.5 * (squares @ precision.T + constant)
                prediction = torch.softmax(log_truth, 1) @ outputs
                loss = torch.nn.functional.mse_loss(prediction, target)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
            return loss.item()

        return fit

    return _tasks(prepare, sizes, n_features)


def pytsk(sizes: list[int], n_features: int, n_rules: int, ready: bool = False) -> dict[str, Task]:
    """scikit-pytsk in its Wrapper: ``fit``, or with ``ready`` its ``fit_loader`` on one batch that is made before."""
    import torch
    from pytsk.gradient_descent import TSK, AntecedentGMF, Wrapper

    def prepare(x: np.ndarray, y: np.ndarray) -> Callable[[int], object]:
        x, y = x.astype("float32"), y.astype("float32")[:, None]
        batch = [(torch.from_numpy(x), torch.from_numpy(y))]

        def fit(epochs: int) -> object:
            antecedent = AntecedentGMF(in_dim=n_features, n_rule=n_rules, init_center=x[:n_rules].T, init_sigma=5.0)
            model = TSK(in_dim=n_features, out_dim=1, n_rule=n_rules, antecedent=antecedent, order=0)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
            loss = torch.nn.MSELoss()
            wrapper = Wrapper(model, optimizer, loss, batch_size=len(x), epochs=epochs, label_type="r")
            return wrapper.fit_loader(batch) if ready else wrapper.fit(x, y)

        return fit

    return _tasks(prepare, sizes, n_features)


def highfis(sizes: list[int], n_features: int, n_rules: int) -> dict[str, Task]:
    from highfis import TSKRegressor

    def prepare(x: np.ndarray, y: np.ndarray) -> Callable[[int], object]:
        settings = {"n_mfs": n_rules, "mf_init": "kmeans", "batch_size": None, "patience": None, "random_state": 0}
        return lambda epochs: TSKRegressor(**settings, epochs=epochs).fit(x, y)

    return _tasks(prepare, sizes, n_features)


def anfis_toolbox(sizes: list[int], n_features: int, n_rules: int) -> dict[str, Task]:
    from anfis_toolbox import ANFISRegressor

    def prepare(x: np.ndarray, y: np.ndarray) -> Callable[[int], object]:
        rules = [[rule] * n_features for rule in range(n_rules)]
        settings = {"n_mfs": n_rules, "rules": rules, "optimizer": "adam", "random_state": 0, "init": "random"}
        return lambda epochs: ANFISRegressor(**network_parameters(epochs=epochs, **settings)).fit(x, y)

    return _tasks(prepare, sizes, n_features)


def xanfis(sizes: list[int], n_features: int, n_rules: int) -> dict[str, Task]:
    from xanfis import GdAnfisRegressor

    def prepare(x: np.ndarray, y: np.ndarray) -> Callable[[int], object]:
        settings = {"num_rules": n_rules, "batch_size": len(x), "early_stopping": False, "valid_rate": None}
        return lambda epochs: GdAnfisRegressor(**settings, epochs=epochs, verbose=False, seed=0).fit(x, y)

    return _tasks(prepare, sizes, n_features)
