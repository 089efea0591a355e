# A thin wrapper: data frames go in as columns, releases are printed in words and come out as data frames. Everything
# private happens in Python. Which Python is used is reticulate's business: RETICULATE_PYTHON, or use_virtualenv().

.module <- function() reticulate::import("discreet", convert = FALSE)

# A vector as Python holds it, a list: missing entries are None in texts and truths, NaN in numbers. Not an array of
# NumPy, which older releases of reticulate know in its first version only.
.column <- function(x) {
  if (is.factor(x)) x <- as.character(x)
  if (inherits(x, "Date")) x <- as.numeric(x)
  if (is.numeric(x)) return(reticulate::r_to_py(as.list(as.double(x))))
  if (!is.character(x) && !is.logical(x)) {
    stop("a column is of class ", class(x)[1], "; give numbers, texts, truths or factors", call. = FALSE)
  }
  reticulate::r_to_py(lapply(unname(x), function(entry) if (is.na(entry)) NULL else entry))
}

# A data frame as Python takes it: a dictionary of columns.
discreet_columns <- function(data) {
  stopifnot(is.data.frame(data))
  do.call(reticulate::dict, c(lapply(as.list(data), .column), list(convert = FALSE)))
}

# Functions of R would run in the R process alone, and blocks of people run elsewhere: refused before anything is spent.
.no_functions <- function(arguments) {
  if (any(vapply(arguments, is.function, logical(1)))) {
    stop("an estimator written in R cannot run on blocks of people, which are in processes of their own; nothing is ",
         "spent. Ask for the statistic by its name, or write the function in Python: ",
         "reticulate::import_from_path(\"my_file\")$my_function", call. = FALSE)
  }
}

.given <- function(x) {
  if (is.data.frame(x)) return(discreet_columns(x))
  if (is.factor(x) || (length(x) > 1 && is.atomic(x) && is.null(names(x)))) return(.column(x))
  x
}

# One question: discreet_ask("mean", survey$age, epsilon = 1). The arguments are those of discreet.mean in Python.
discreet_ask <- function(statistic, ..., session = NULL) {
  arguments <- list(...)
  .no_functions(arguments)
  asked <- if (is.null(session)) .module()[[statistic]] else session[[statistic]]
  ready <- if (is.null(session)) lapply(arguments, .given) else arguments
  do.call(asked, ready)
}

# A session with a budget: private <- discreet_open(survey, budget = 3, ledger = "study.ledger").
discreet_open <- function(data, ...) {
  .no_functions(list(...))
  source <- if (is.data.frame(data)) discreet_columns(data) else data
  .module()$open(source, ...)
}

# reticulate's own objects already print their str(); a release of Python says what it is in words.
print.discreet.privacy.release.Release <- function(x, ...) {
  cat(reticulate::py_str(x), "\n", sep = "")
  invisible(x)
}
print.discreet.privacy.release.Groups <- print.discreet.privacy.release.Release

.none <- function(x) is.null(x) || identical(reticulate::py_str(x), "None")

.rows <- function(release, group = NULL) {
  shown <- release$shown()
  if (!.none(shown$refusal)) {
    rows <- data.frame(name = "", value = NA_real_, low = NA_real_, high = NA_real_,
                       refusal = reticulate::py_to_r(shown$refusal))
  } else {
    float <- reticulate::import_builtins(convert = FALSE)$float
    number <- function(x) if (.none(x)) NA_real_ else reticulate::py_to_r(float(x))
    rows <- do.call(rbind, lapply(reticulate::iterate(shown$numbers, simplify = FALSE), function(row) {
      data.frame(name = as.character(reticulate::py_str(row$name)), value = number(row$value), low = number(row$low),
                 high = number(row$high), refusal = NA_character_)
    }))
  }
  if (is.null(group)) rows else cbind(group = group, rows)
}

as.data.frame.discreet.privacy.release.Release <- function(x, ...) .rows(x)
as.data.frame.discreet.privacy.release.Groups <- function(x, ...) {
  items <- reticulate::iterate(x$items(), simplify = FALSE)
  do.call(rbind, lapply(items, function(item) .rows(item[[1]], as.character(reticulate::py_str(item[[0]])))))
}
