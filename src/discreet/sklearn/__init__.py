"""Private estimators with the interface of scikit-learn."""
