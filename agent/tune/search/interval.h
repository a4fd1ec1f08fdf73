// Intervals around a mean of few measurements.
#pragma once

#include <optional>
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
// By how much `sample` lies above `others`, which is independent of it: the median of all differences and
// those between which it lies whatever the errors are distributed like, from the exact distribution of Mann
// and Whitney's U (Hodges and Lehmann, Annals of Mathematical Statistics 34, 1963). One run that went wrong
// widens it less than Student's. None: too few values for that confidence (3 beside 6 are enough for 97.5 %).
std::optional<Interval> shift_interval(std::span<const double> sample, std::span<const double> others,
                                       double confidence);

// A logarithmic score as percent of gain: 100 (e^x - 1).
double percent_of(double score);
Interval percent_of(const Interval& score);
// The score of a gain in percent above -100.
double score_of_percent(double percent);

}  // namespace rocetune::search
