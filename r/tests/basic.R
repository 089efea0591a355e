# Rscript r/tests/basic.R: on made-up people, with the Python that RETICULATE_PYTHON names.
for (method in c("R/discreet.R", "r/R/discreet.R")) if (file.exists(method)) source(method)
set.seed(1)
n <- 4000
people <- data.frame(age = round(runif(n, 18, 90)), sex = factor(sample(c("f", "m"), n, TRUE)),
                     smoker = sample(c(TRUE, FALSE, NA), n, TRUE), town = sample(c("a", "b", NA), n, TRUE))

mean_age <- discreet_ask("mean", people$age, epsilon = 1)
print(mean_age)
told <- as.data.frame(mean_age)
print(told)
stopifnot(nrow(told) == 1, abs(told$value - mean(people$age)) < 5, told$low < told$value, told$value < told$high)

tabled <- as.data.frame(discreet_ask("histogram", people$sex, categories = c("f", "m"), epsilon = 1))
stopifnot(nrow(tabled) >= 2, abs(tabled$value[tabled$name == "f"] - sum(people$sex == "f")) < 50)

private <- discreet_open(people, budget = 3, ledger = tempfile("study"), person = NULL)
print(discreet_ask("mean", "age", epsilon = 0.5, session = private))
before <- reticulate::py_str(private$balance)

# a function of R, refused here and, if it gets past this wrapper, in Python: nothing is spent either way
stopifnot(grepl("written in R", tryCatch(discreet_ask("fit", mean, "age", epsilon = 0.5, session = private),
                                         error = conditionMessage)))
stopifnot(grepl("function of R", tryCatch(private$fit(function(x) mean(x), "age", epsilon = 0.5),
                                          error = conditionMessage)))
stopifnot(identical(before, reticulate::py_str(private$balance)))
few <- discreet_ask("mean", people$age[1:12], epsilon = 0.01)
stopifnot(is.na(as.data.frame(few)$value), nchar(as.data.frame(few)$refusal) > 0)
cat("all passed\n")
