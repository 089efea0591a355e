"""Peers that need other versions than ours: this file runs alone, in an interpreter of their own.

    PYTHON benchmarks/compare/elsewhere.py < requests > answers

A request is a pickled (name, arguments); the answer is a pickled (value or None, CPU seconds, what
went wrong). Both ends are ours.
"""

import pickle
import sys
import time
import warnings
from typing import Any

import numpy as np

NAMES: dict[str, Any] = {}
warnings.simplefilter("ignore")  # diffprivlib warns of bounds and of versions


def diffprivlib_answers() -> dict[str, Any]:
    from diffprivlib import models, tools  # type: ignore[import-not-found]

    def linear(x: Any, y: Any, epsilon: float, low: Any, high: Any, y_bounds: Any) -> Any:
        made = models.LinearRegression(epsilon=epsilon, bounds_X=(low, high), bounds_y=y_bounds).fit(x, y)
        return made.coef_

    def logistic(x: Any, y: Any, epsilon: float, norm: float) -> Any:
        made = models.LogisticRegression(epsilon=epsilon, data_norm=norm, C=1e4, max_iter=500).fit(x, y)
        return made.coef_[0]

    def kmeans(x: Any, clusters: int, epsilon: float, low: Any, high: Any) -> Any:
        return models.KMeans(clusters, epsilon=epsilon, bounds=(low, high)).fit(x).cluster_centers_

    return {
        "diffprivlib mean": lambda x, epsilon, bounds: tools.mean(x, epsilon=epsilon, bounds=bounds),
        "diffprivlib variance": lambda x, epsilon, bounds: tools.var(x, epsilon=epsilon, bounds=bounds),
        "diffprivlib quantile": lambda x, q, epsilon, bounds: tools.quantile(x, q, epsilon=epsilon, bounds=bounds),
        "diffprivlib linear": linear,
        "diffprivlib logistic": logistic,
        "diffprivlib kmeans": kmeans,
    }


def google_answers() -> dict[str, Any]:
    from pydp.algorithms.laplacian import BoundedMean, BoundedVariance  # type: ignore[import-not-found]

    def automatic(what: Any) -> Any:
        return lambda x, epsilon: what(epsilon=epsilon, dtype="float").quick_result(np.asarray(x).tolist())

    return {"Google mean": automatic(BoundedMean), "Google variance": automatic(BoundedVariance)}


for found in (diffprivlib_answers, google_answers):
    try:
        NAMES.update(found())
    except ImportError as missing:
        print(f"left out: {missing}", file=sys.stderr)


def main() -> None:
    while True:
        try:
            name, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301
        except EOFError:
            return
        start = time.process_time()
        value, fault = None, ""
        try:
            value = NAMES[name](**arguments)
        except Exception as raised:  # noqa: BLE001 (whatever a peer raises, it has not answered)
            fault = repr(raised)
        pickle.dump((value, time.process_time() - start, fault), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
