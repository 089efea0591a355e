"""Logistic regression, and a refusal

Wisconsin breast cancer (scikit-learn), 569 people: with two features epsilon 1 is refused, since so few people cannot
hide one. The same question to Fair's 6,366 women (statsmodels) is answered.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import discreet

cost = {"epsilon": 1.0, "delta": 1e-6, "unit": "person", "rng": discreet.Seeded(7)}
cancer = load_breast_cancer()
refused = discreet.logistic_regression(cancer.data[:, :2], cancer.target, **cost)
print("569 people:", refused.refusal)

women = sm.datasets.fair.load_pandas().data
features, affair = women[["age", "yrs_married", "religious"]], (women["affairs"] > 0).astype(float)
answer = discreet.logistic_regression(features, affair, **cost)
plain = LogisticRegression(C=np.inf, max_iter=1000).fit(features, affair)
print("6,366 women:", ", ".join(f"{name} {b:.3f}" for name, b in zip(features, answer.value.coef, strict=True)))
print("without privacy:", ", ".join(f"{name} {b:.3f}" for name, b in zip(features, plain.coef_[0], strict=True)))

figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
answer.plot(ax=ax)
names = [text.get_text() for text in ax.get_yticklabels()]
fitted = dict(zip(features, plain.coef_[0], strict=True)) | {"intercept": plain.intercept_[0]}
ax.plot([fitted[name] for name in names], range(len(names) - 1, -1, -1), "kx", label="without privacy")
ax.legend(fontsize=8, frameon=False)
