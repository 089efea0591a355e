"""What the arguments of statistics mean, each said once, and the docstrings that are made of it.

A statistic's docstring says what it is. Its faces, the function and the method of a session, add a section on every
argument: from here, or from a section "Parameters" of the statistic's own docstring, which comes first.
"""

import inspect
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, get_args, get_origin

from discreet.privacy.declaration import Statistic

MEANING: Final[Mapping[str, str]] = {
    # columns
    "x": "Numbers: a list, an array, a series or an Arrow column; in a session the name of a column.",
    "y": "The second column, or the second group.",
    "X": "The rows: an array, a frame, an Arrow table; in a session the names of columns.",
    "data": "The column of numbers.",
    "groups": "Two groups or more, each a column of its own.",
    # the guarantee
    "epsilon": "What the whole answer costs: one person changes the probability of any output by at most e^epsilon.",
    "delta": "A probability for which the factor need not hold; 0 is the strictest.",
    "neighbours": '"add_or_remove" hides whether a person is there; "replace" hides what their row holds.',
    "unit": "What a row is called in the guarantee; of a function on blocks, also the column that says whose it is.",
    "missing": '"drop" leaves out people with a missing entry; any other value is public and stands in for it.',
    "rng": "Secret noise unless `discreet.Seeded` is given, which makes the answer unpublishable.",
    # questions to a session
    "where": "Only these rows: a condition such as \"age >= 18 and sex == 'Female'\".",
    "groupby": "A column, or several: one answer for each of their values, for the price of one.",
    "keys": "The public groups; of several columns a list for each. Without them they are found: needs delta > 0.",
    "per_person": 'Made of a person\'s several rows: "first", "last", "mean", "min", "max", "any", "all", "sum".',
    "max_rows": "How many rows of a person count at most, for sums and counts.",
    "request": "A name for this question: asked again under it, the stored answer is shown and nothing is charged.",
    # options that several statistics share
    "bounds": "Public bounds, never taken from the data.",
    "model": '"gaussian" is tighter if the data are normal; None assumes no shape.',
    "confidence": "Of the interval; None spends nothing on one, where it would cost something.",
    "granularity": "What the data are rounded to. Found privately if it is left out; 0: they are not rounded.",
    "guaranteed": "An interval that holds for any distribution, and is wider.",
    "equals": "Count entries that are this text, number or date.",
    "categories": "The public categories, in the order in which they are shown.",
    "edges": "Public edges of numeric bins.",
    "alternative": '"greater" and "less" are one-sided.',
    "null": "The hypothesis.",
    "names": "What the columns, or the numbers that are returned, are called.",
    "levels": "By name of a C(...) column, its public categories, the one to compare with first.",
    "intercept": "Whether there is one.",
    "weights": "A column of weights, 0 or more: the answer is about the weighted population.",
    "clusters": "The column that says in which cluster a person was drawn, a school or a district; needs `design`.",
    "strata": "The column that says in which stratum a person's cluster is.",
    "largest_weight": "A public number that hardly any weight exceeds: those above count as it. Found if left out.",
    "design": "The public clusters: a list of two or more, or with `strata` such a list for each stratum.",
    "offset": "A column that is a known part of the outcome: the log of an exposure, for a Poisson model.",
    "ridge": "A penalty on squared coefficients, as scikit-learn's alpha; None adds only what the noise asks for.",
    "norm": "A public bound on the length of a row of features.",
    "blocks": 'How many blocks of people; "auto" chooses by public numbers.',
    "aggregator": 'How estimates are combined: "mean", "coordinatewise", "friendly", "median", "vote", or a mechanism.',
    "bias_correction": 'Within blocks: "half", "jackknife", "firth" or None.',
    "engine": "Where blocks are worked on.",
    "timeout": "Seconds that a block may take.",
    "trust": '"own": code that you wrote or read; "sandbox": anybody\'s.',
    "sandbox": "Limits of the sandbox.",
    "options": "Passed on to your code.",
    "smallest": "The least number of people in a block.",
    "method": "How it is done.",
    # one statistic each
    "ab_test.x": "What is compared: numbers, or truth values or a condition for shares.",
    "ab_test.groups": "The column that says who is in which group.",
    "ab_test.treatment": "The public group whose effect is asked about.",
    "ab_test.control": "The public group that it is compared with.",
    "ab_test.of": "What is compared: means or shares.",
    "ab_test.planned": "The share of both groups' people that were to be in the treatment's.",
    "anova.groups": "The groups, each a column of numbers of its own.",
    "count.x": "Truth values, or a condition in a session; without a column, the number of people.",
    "crosstab.x": "The first column of categories; it goes down.",
    "crosstab.y": "The second column of categories.",
    "crosstab.z": "A third column of categories.",
    "crosstab.categories": "The public categories: a list for each column, None for one whose are to be found.",
    "custom_test.test": "A function of the rows (and of y) that returns a p-value.",
    "custom_test.method": '"scores" uses p-values; "binary" counts the blocks that reject.',
    "density.support": "Public ends of the data.",
    "density.categories": 'A list of public categories, or "open": those that enough people share are found.',
    "difference.x": "Numbers, or truth values for a share.",
    "difference.groups": "The column that says who is in which group.",
    "difference.between": "The two public groups: the second is taken from the first.",
    "difference.of": "What is compared: means, medians or shares.",
    "difference.confidence": "Of the interval of medians, whose ends are drawn; others are read at any confidence.",
    "ecdf.support": "Public ends of the data.",
    "fit.estimator": 'An estimator of scikit-learn, statsmodels or lifelines, a function, or "file.py:function".',
    "fit.y": "The outcome, if the estimator takes one.",
    "fit.labels": "The public labels, if the estimator returns one and blocks vote.",
    "fit.attributes": "What to read off a fitted scikit-learn estimator; `coef_` and `intercept_` if left out.",
    "fit.formula": "For statsmodels, where X is a frame.",
    "fit.categories": 'The public categories of some columns: {"sex": ["F", "M"]}.',
    "fit.unbiased": "Whether the estimator is known to have no bias on a block.",
    "fit.estimate_bias": "Whether to spend 3/10 of epsilon on the bias that is left, and to widen the interval by it.",
    "fit.scales": "Public scales of the estimates; 1 says that they vary alike.",
    "fit.vectorised": "Whether blocks of known estimators may be fitted at once.",
    "fit_distribution.family": 'The name of a family, such as "poisson" or "gamma", or a `discreet.Family`.',
    "fit_distribution.trials": "Of each record, for a binomial distribution.",
    "goodness_of_fit_test.null": "Probabilities by category, a list of them, or a distribution of scipy.stats.",
    "goodness_of_fit_test.bins": "How many intervals of equal probability a distribution is compared on.",
    "groups_test.groups": "The column that says who is in which group.",
    "groups_test.between": "The public groups, two or more.",
    "groups_test.of": "What is compared: distributions, by ranks, or means.",
    "histogram.x": "Categories or numbers.",
    "histogram.noise": '"gaussian" needs delta > 0.',
    "histogram.width": "The width of bins on the whole line, found where enough people are: needs delta > 0.",
    "independence_test.categories": "The public categories of x, then those of y.",
    "kmeans.k": "How many clusters.",
    "kmeans.method": '"centred" is the most accurate; "lloyd" the lectures\' own; "friendly" for clusters well apart.',
    "kmeans.radius": "Of a public ball that holds the rows; found privately if left out.",
    "kmeans.centre": "The middle of that ball.",
    "kmeans.iterations": "How many steps.",
    "kmeans.loss": "Whether to release the loss too, for a share of the budget.",
    "kmeans.columns": "How many columns there are, where X is a list of rows.",
    "likelihood_ratio_test.p": "The hypothesis: a distribution of scipy.stats, or probabilities by category.",
    "likelihood_ratio_test.q": "What it is tested against, likewise.",
    "likelihood_ratio_test.method": '"clamped" is the strongest; in "vote" blocks of people vote.',
    "likelihood_ratio_test.clamp": "Where the log ratio of one person is cut; chosen by public numbers if left out.",
    "linear_regression.X": 'The features, or a formula such as "y ~ age + C(sex)".',
    "linear_regression.y": "The outcome, or the frame that the formula is about.",
    "linear_regression.method": '"moments" is a noisy sum of squares; "friendly" fits on blocks; "sgd" is descent.',
    "log_rank_test.time": "How long each person was watched.",
    "log_rank_test.event": "Whether the event came then: truth values, the number 1, or what `equals` says.",
    "log_rank_test.groups": "The column that says who is in which group.",
    "log_rank_test.between": "The two public groups.",
    "log_rank_test.times": "Public times above 0, in growing order: the grid on which events are counted.",
    "log_rank_test.parts": "In how many parts the time from one of `times` to the next is cut.",
    "logistic_regression.X": 'The features, or a formula such as "ill ~ age + C(sex)".',
    "logistic_regression.y": "The outcome, 1 for yes and 0 for no, or the frame that the formula is about.",
    "logistic_regression.method": '"objective" is pure; "descent" needs delta > 0; "friendly" fits on blocks.',
    "logistic_regression.classes": "The two public outcomes, that of no first; for more see multinomial_regression.",
    "maximum.share": "The share of people above it.",
    "maximum_likelihood.model": "A distribution of scipy.stats or its name, or a function logpdf(x, ...).",
    "maximum_likelihood.bounds": "Of the parameters, where the model is a function.",
    "maximum_likelihood.fixed": "Parameters that are known.",
    "maximum_likelihood.start": "Where the search begins, where the model is a function.",
    "mean.x": "Numbers, or a table of several columns, which has a mean for each.",
    "mean.method": 'For one column the lectures\' own methods; for a table "refine" and "blocks".',
    "mean.sigma": "A public standard deviation.",
    "mean.near_zero": "Whether it is public that the mean is within 100 standard deviations of 0: fewer rows will do.",
    "mean.reach": "A public bound on the absolute mean, for the lectures' methods.",
    "mean_test.null": "The mean.",
    "mean_test.model": '"gaussian": normal data; "symmetric": tests symmetry about `null`, exactly.',
    "minimum.share": "The share of people below it.",
    "mode.x": "Categories: texts, numbers or truth values.",
    "mode.confidence": "That the most frequent category is among those shown.",
    "multinomial_regression.X": "The features: columns of numbers.",
    "multinomial_regression.y": "The column that says who is of which class.",
    "multinomial_regression.classes": "The public classes, 2 to 20, the one to compare with first.",
    "additive_model.X": "The columns that tell classes apart: numbers, and categories that `levels` lists.",
    "additive_model.y": "The column that says who is of which class.",
    "additive_model.classes": "The two public classes, that of no first.",
    "additive_model.bounds": "Public bounds: a pair for all columns of numbers, or pairs by name.",
    "additive_model.levels": "By name of a column, its public categories.",
    "additive_model.bins": "How many bins a column of numbers has, 2 to 64.",
    "naive_bayes.X": "The columns that tell classes apart: numbers, and categories that `levels` lists.",
    "naive_bayes.y": "The column that says who is of which class.",
    "naive_bayes.classes": "The public classes, two or more.",
    "naive_bayes.bounds": "Public bounds: a pair for all columns of numbers, or pairs by name.",
    "naive_bayes.levels": "By name of a column, its public categories.",
    "naive_bayes.bins": "How many bins a column of numbers has, 2 to 64.",
    "paired_test.y": "The second entries of the pairs; without it x holds the differences.",
    "paired_test.method": '"ranks" or "signs"; chosen by public numbers if left out.',
    "pca.k": "How many components, fewer than there are columns.",
    "pca.standardise": "Whether columns are taken in units of their standard deviations.",
    "poisson_regression.X": 'The features, or a formula such as "visits ~ age + C(sex)".',
    "poisson_regression.y": "The counts, or the frame that the formula is about.",
    "poisson_regression.method": '"descent", or "friendly", which fits on blocks.',
    "poisson_regression.largest": "A public number that hardly any count exceeds.",
    "proportion.x": "Truth values; in a session a column or a condition.",
    "proportion_test.null": "The share.",
    "quantile.q": "Which quantile, from 0 to 1, or several.",
    "ratio.x": "The numerator: a number for each person.",
    "ratio.y": "The denominator: a number for each person, 0 or more.",
    "ratio.bounds": "Public bounds, a pair for each column: [(low, high), (0, high)].",
    "rate.x": "Each person's number of events, truth values, or a condition.",
    "rate.y": "How long each person was watched.",
    "rate.bounds": "Public bounds, a pair for each column: [(0, most events), (0, longest time)].",
    "rate.per": "For so many units of time: 1000 tells events per 1,000.",
    "sgd.loss": '"squared", "huber", "logistic", "poisson", or a function of one row that returns its gradient.',
    "sgd.y": "The outcome.",
    "sgd.steps": "How many.",
    "sgd.rate": "With what chance each person is in a step.",
    "sgd.clip": "The longest gradient that a person may have.",
    "sgd.learning": "The step size.",
    "sgd.size": "A public guess of how many people there are.",
    "sgd.parameters": "How many numbers a gradient of your own has.",
    "survival.time": "How long each person was watched.",
    "survival.event": "Whether the event came then: truth values, the number 1, or what `equals` says.",
    "survival.times": "Public times above 0, in growing order: where the curve is told.",
    "survival.parts": "In how many parts the time from one of `times` to the next is cut.",
    "synthetic.X": "2 to 50 columns: a frame, an Arrow table, a dictionary; in a session their names.",
    "synthetic.levels": "The public categories of columns, a list for each by its name.",
    "synthetic.edges": "Public edges of bins of columns of numbers, a list for each by its name.",
    "top.x": "Categories: texts, numbers or truth values.",
    "top.k": "How many categories are shown.",
}
SECTION: Final = re.compile(r"\n\nParameters\n-+\n(.*?)(?=\n\n\S|\Z)", re.DOTALL)
ITEM: Final = re.compile(r"^(\w+) : .*\n((?:    .*\n?)+)", re.MULTILINE)


def documented(statistic: Statistic, signature: inspect.Signature, example: str | None = None) -> str:
    """The docstring of a face: what the statistic is, every argument, and an example."""
    text = inspect.cleandoc(statistic.make.__doc__ or "")
    own = {name: " ".join(body.split()) for name, body in ITEM.findall("\n".join(SECTION.findall(text)) + "\n")}
    head, mark, shown = SECTION.sub("", text).partition("\n>>> ")
    lines = [head.rstrip(), "", "Parameters", "----------"]
    for name, one in signature.parameters.items():
        if name == "self":
            continue
        stars = "*" if one.kind is one.VAR_POSITIONAL else ""
        lines += [f"{stars}{name} : {_kind(statistic, one)}", f"    {own.get(name) or meaning(statistic, name)}"]
    lines += ["", "Returns", "-------", "Release", "    The answer or a refusal, with its guarantee and its interval."]
    lines += ["", "Examples", "--------", example if example is not None else (mark + shown).strip()]
    return "\n".join(lines) + "\n"


def untyped(signature: inspect.Signature) -> inspect.Signature:
    """As `help` shows it; the types are in faces.pyi, for editors, and in words in the docstring."""
    plain = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    return signature.replace(parameters=plain, return_annotation=signature.empty)


def meaning(statistic: Statistic, name: str) -> str:
    """What an argument of a statistic means, or nothing."""
    return MEANING.get(f"{statistic.name}.{name}", MEANING.get(name, ""))


def _kind(statistic: Statistic, one: inspect.Parameter) -> str:
    """In a few words: what may be given, and what stands if nothing is."""
    needed = one.default is one.empty
    if one.name in statistic.columns:
        reads = statistic.reads(one.name, {})
        words = {"one": "column", "several": "columns", "either": "column or columns"}[reads.width]
    else:
        words = _annotated(one.annotation)
    if needed or one.kind is one.VAR_POSITIONAL:
        return words or "required"
    return ", ".join(filter(None, (words, "optional" if one.default is None else f"default {one.default!r}")))


def _annotated(annotation: Any) -> str:
    found = [annotation] if get_origin(annotation) is Literal else list(get_args(annotation)) or [annotation]
    choices = [repr(choice) for one in found if get_origin(one) is Literal for choice in get_args(one)]
    if choices:
        return ("int or " if int in found else "") + "{" + ", ".join(choices) + "}"
    if float in found:
        return "number"
    return next((word for kind, word in ((bool, "bool"), (int, "int"), (str, "str")) if kind in found), "")
