"""The scikit-learn face of private k-means."""

import inspect
from typing import Any

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.faces import kmeans
from discreet.privacy.exact import Number
from discreet.tables.matrix import in_one, matrix


class PrivateKMeans:
    """`discreet.kmeans` as a scikit-learn clusterer.

    After `fit`: `release_` with its guarantee and history, `cluster_centers_`, noisy `sizes_`, and `predict`. There is
    no `labels_` and no `inertia_`: both would tell about people. Other arguments of `discreet.kmeans` are `settings`.

    >>> rows = np.array([[k % 2 * 8 + np.sin(k), np.cos(3 * k)] for k in range(4000)])
    >>> model = PrivateKMeans(2, epsilon=2.0, delta=1e-6).fit(rows)
    >>> model.cluster_centers_.shape, model.predict(rows[:3]).shape
    ((2, 2), (3,))
    """

    def __init__(
        self,
        n_clusters: int = 8,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        *,
        method: str = "auto",
        radius: float | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.radius = radius
        self.settings = settings

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """As scikit-learn asks for them."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> "PrivateKMeans":
        """As scikit-learn sets them."""
        for name, value in params.items():
            if name not in self.get_params():
                raise BadInput(f"{name!r} is no parameter; there are {sorted(self.get_params())}")
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> "PrivateKMeans":  # noqa: N803, ARG002
        """Cluster privately; a refusal raises `Refused`."""
        if self.epsilon is None:
            raise BadInput("epsilon is not set; there is no default: give PrivateKMeans(8, epsilon=1.0, delta=1e-6)")
        self.release_ = kmeans(
            X,
            self.n_clusters,
            epsilon=self.epsilon,
            delta=self.delta,
            method=self.method,  # type: ignore[arg-type]
            radius=self.radius,
            **(self.settings or {}),
        )
        self.cluster_centers_ = self.release_.value.centres
        self.sizes_ = self.release_.value.sizes
        self.n_features_in_ = self.cluster_centers_.shape[1]
        if hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
            self.feature_names_in_ = np.asarray(list(X.columns), dtype=object)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cluster_centers_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            input_tags=InputTags(allow_nan=True),
            non_deterministic=True,
        )

    def _fitted(self) -> Any:
        if not hasattr(self, "cluster_centers_"):
            raise Refused("there are no centres to predict with; fit first")
        return self.release_.value

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The nearest released centre of each row: no further cost."""
        return self._fitted().predict(X)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Each row's distances to the released centres: no further cost."""
        centres = self._fitted().centres
        rows = in_one(matrix(X, centres.shape[1]))
        return np.linalg.norm(rows[:, None] - centres[None], axis=2)

    def fit_predict(self, X: Any, y: Any = None) -> Any:  # noqa: N803, ARG002
        """Fit, then the nearest released centre of each row. The labels are of these rows: keep them to yourself."""
        return self.fit(X).predict(X)

    def __repr__(self) -> str:
        return f"PrivateKMeans({self.n_clusters!r}, epsilon={self.epsilon!r}, delta={self.delta!r})"
