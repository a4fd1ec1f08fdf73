// Intervals around a mean of few measurements.
#pragma once

#include <span>

#include "agent/tune/search/outcome.h"
#include "dataplane/base/random.h"

namespace rocetune::search {

// The t with P(|T| <= t) = confidence for Student's T of `degrees` >= 1 degrees of freedom; 0 < confidence
// < 1. By bisection of the closed form for whole degrees: Abramowitz and Stegun, Handbook of Mathematical
// Functions, 1964, 26.7.3 and 26.7.4.
double student_quantile(int degrees, double confidence);

// Of the mean, two-sided: the wider, on each side, of Student's interval (right for normal errors at any
// count) and the percentile bootstrap (which shows skew, but is too narrow for few values: Efron and
// Tibshirani, 1993). At least 2 values.
Interval mean_interval(std::span<const double> sample, double confidence, Random& random);

// A logarithmic score as percent of gain: 100 (e^x - 1).
double percent_of(double score);
Interval percent_of(const Interval& score);
// The score of a gain in percent above -100.
double score_of_percent(double percent);

}  // namespace rocetune::search
