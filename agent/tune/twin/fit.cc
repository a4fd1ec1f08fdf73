#include "agent/tune/twin/fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "congestion/units.h"

namespace rocetune::twin {
namespace {

using Point = std::vector<double>;  // positions, 0 to 1

// 95 % of chi squared with one degree of freedom.
constexpr double kWithinDoubt = 3.84;
constexpr double kMissing = 30;  // some fifteen doubts: a point without traffic is never the best
// One target that cannot be met must not outweigh the others (Cauchy's weights: Holland and Welsch, 1977).
constexpr double kRobust = 3;
// Of two points that explain the observed equally well the one nearer to the start is believed: as if the
// start were known to a range.
constexpr double kFaithInStart = 1;
constexpr double kToldFactor = 10, kToldPart = 0.3;
constexpr double kFirstStep = 0.2, kLeastStep = 0.01;
constexpr double kWalk = 0.125;
constexpr double kPartToFind = 0.4;  // of the points; the others tell how sure it is
constexpr unsigned kBases[] = {2, 3, 5, 7, 11, 13};

// Halton 1960: fills the space evenly, and is no chance.
double halton(unsigned index, unsigned base) {
  double out = 0, part = 1;
  for (; index > 0; index /= base) {
    part /= base;
    out += part * (index % base);
  }
  return out;
}

class Fitting {
 public:
  Fitting(const std::vector<Unknown>& unknowns, const std::vector<Target>& targets, const Model& model,
          int most, const std::stop_token& stop)
      : unknowns_(unknowns), targets_(targets), model_(model), most_(most), stop_(stop) {
    for (const Unknown& unknown : unknowns) start_.push_back(unknown.position(unknown.start));
  }

  std::optional<Fit> run() {
    if (!look({start_})) return std::nullopt;
    if (!unknowns_.empty() && !targets_.empty()) {
      const int to_find = static_cast<int>(most_ * kPartToFind);
      if (!spread(std::max(1, to_find / 3)) || !descend(to_find)) return std::nullopt;
      if (!walk_around()) return std::nullopt;
    }
    is_surrounded_.resize(unknowns_.size());
    return result();
  }

 private:
  struct Looked {
    std::vector<std::optional<double>> modelled;
    double misfit = 0;
  };

  std::vector<double> values_of(const Point& point) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < point.size(); ++i)
      out.push_back(point[i] == start_[i] ? unknowns_[i].start : unknowns_[i].at(point[i]));
    return out;
  }
  double misfit_of(const std::vector<std::optional<double>>& modelled) const {
    double sum = 0;
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const Target& target = targets_[t];
      if (!modelled[t]) {
        sum += kMissing;
        continue;
      }
      const double off = std::log(target.observed + target.least) - std::log(*modelled[t] + target.least);
      const double doubts = off / target.doubt / kRobust;
      sum += kRobust * kRobust * std::log1p(doubts * doubts);
    }
    return sum;
  }
  double worth(const Point& point) const {
    double far = 0;
    for (std::size_t i = 0; i < point.size(); ++i) far += (point[i] - start_[i]) * (point[i] - start_[i]);
    return looked_.at(point).misfit + kFaithInStart * far;
  }
  // Models what is not modelled yet. False: stopped.
  bool look(const std::vector<Point>& points) {
    std::vector<Point> fresh;
    std::vector<std::vector<double>> values;
    for (const Point& point : points) {
      if (looked_.contains(point) || std::ranges::find(fresh, point) != fresh.end()) continue;
      fresh.push_back(point);
      values.push_back(values_of(point));
    }
    if (stop_.stop_requested()) return false;
    if (fresh.empty()) return true;
    const Modelled modelled = model_(values);
    if (stop_.stop_requested() || modelled.size() != fresh.size()) return false;
    for (std::size_t i = 0; i < fresh.size(); ++i) looked_[fresh[i]] = {modelled[i], misfit_of(modelled[i])};
    return true;
  }
  Point best() const {
    const Point* out = nullptr;
    for (const auto& [point, looked] : looked_) {
      if (out == nullptr || worth(point) < worth(*out)) out = &point;
    }
    return *out;
  }
  int points() const { return static_cast<int>(looked_.size()); }

  bool spread(int count) {
    std::vector<Point> points;
    for (int n = 1; n <= count; ++n) {
      Point point;
      for (std::size_t i = 0; i < unknowns_.size(); ++i)
        point.push_back(halton(static_cast<unsigned>(n), kBases[i % std::size(kBases)]));
      points.push_back(std::move(point));
    }
    return look(points);
  }
  // One unknown a step to both sides, all of them at once; shorter steps where none helps (Hooke and Jeeves,
  // JACM 8, 1961).
  bool descend(int until) {
    double step = kFirstStep;
    while (points() < until && step >= kLeastStep) {
      const Point from = best();
      std::vector<Point> around;
      for (std::size_t i = 0; i < from.size(); ++i) {
        for (const double by : {-step, step}) {
          Point point = from;
          point[i] = std::clamp(point[i] + by, 0.0, 1.0);
          around.push_back(std::move(point));
        }
      }
      // Two that are traded for each other.
      for (std::size_t i = 0; i + 1 < from.size(); ++i) {
        for (const double by : {-step, step}) {
          Point point = from;
          point[i] = std::clamp(point[i] + by, 0.0, 1.0);
          point[i + 1] = std::clamp(point[i + 1] - by, 0.0, 1.0);
          around.push_back(std::move(point));
        }
      }
      if (!look(around)) return false;
      if (best() == from) step /= 2;
    }
    return true;
  }
  double least() const {
    double out = looked_.begin()->second.misfit;
    for (const auto& [point, looked] : looked_) out = std::min(out, looked.misfit);
    return out;
  }
  // Away from the best in one unknown, the others giving way, as long as that explains the observed as well:
  // a profile of the misfit. All walk in turn, so that those that soon stop are told from those that go on.
  struct Walker {
    std::size_t unknown = 0;
    double by = 0;
    Point at;
    bool is_there = false;  // where it is worse, or at the end of the range
  };
  bool walk_around() {
    std::vector<Walker> walkers;
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      for (const double by : {-kWalk, kWalk}) walkers.push_back({i, by, best(), false});
    }
    while (points() < most_ && !std::ranges::all_of(walkers, &Walker::is_there)) {
      for (Walker& walker : walkers) {
        if (!walker.is_there && points() < most_ && !step(walker)) return false;
      }
    }
    is_surrounded_.assign(unknowns_.size(), true);
    for (const Walker& walker : walkers) {
      if (!walker.is_there) is_surrounded_[walker.unknown] = false;
    }
    return true;
  }
  bool step(Walker& walker) {
    const std::size_t i = walker.unknown;
    Point ahead = walker.at;
    ahead[i] = std::clamp(ahead[i] + walker.by, 0.0, 1.0);
    if (ahead[i] == walker.at[i]) {
      walker.is_there = true;
      return true;
    }
    std::vector<Point> around{ahead};
    for (std::size_t j = 0; j < ahead.size(); ++j) {
      for (const double give : {-kWalk, kWalk}) {
        if (j == i) continue;
        Point point = ahead;
        point[j] = std::clamp(point[j] + give, 0.0, 1.0);
        around.push_back(std::move(point));
      }
    }
    if (!look(around)) return false;
    walker.at = *std::ranges::min_element(around, {}, [&](const Point& p) { return looked_.at(p).misfit; });
    walker.is_there = looked_.at(walker.at).misfit > least() + kWithinDoubt;
    return true;
  }

  Fit result() const {
    Fit out;
    const Point at = best();
    const std::vector<double> values = values_of(at);
    const double within = least() + kWithinDoubt;
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      double low = at[i], high = at[i];
      for (const auto& [point, looked] : looked_) {
        if (looked.misfit > within) continue;
        low = std::min(low, point[i]);
        high = std::max(high, point[i]);
      }
      const Unknown& unknown = unknowns_[i];
      FittedUnknown one{.value = values[i],
                        .low = unknown.at(std::max(0.0, low - kWalk / 2)),
                        .high = unknown.at(std::min(1.0, high + kWalk / 2))};
      const bool is_narrow = unknown.is_logarithmic
                                 ? one.high <= one.low * kToldFactor
                                 : one.high - one.low <= kToldPart * (unknown.max - unknown.min);
      one.is_told = !targets_.empty() && is_surrounded_[i] && is_narrow;
      out.unknowns.push_back(one);
    }
    out.modelled_before = looked_.at(start_).modelled;
    out.misfit_before = looked_.at(start_).misfit;
    out.modelled = looked_.at(at).modelled;
    out.misfit = looked_.at(at).misfit;
    out.points = points();
    return out;
  }

  const std::vector<Unknown>& unknowns_;
  const std::vector<Target>& targets_;
  const Model& model_;
  const int most_;
  const std::stop_token& stop_;
  Point start_;
  std::map<Point, Looked> looked_;
  std::vector<bool> is_surrounded_;  // by points that explain it worse, or by its range; by unknown
};

}  // namespace

double Unknown::position(double value) const {
  const double inside = std::clamp(value, min, max);
  return is_logarithmic ? std::log(inside / min) / std::log(max / min) : (inside - min) / (max - min);
}

double Unknown::at(double position) const {
  const double raw = is_logarithmic ? min * std::pow(max / min, position) : min + (max - min) * position;
  if (step <= 0) return std::clamp(raw, min, max);
  return std::min(min + std::round((raw - min) / step) * step, max);
}

std::optional<Fit> fit(const std::vector<Unknown>& unknowns, const std::vector<Target>& targets,
                       const Model& model, int most_points, const std::stop_token& stop) {
  return Fitting(unknowns, targets, model, most_points, stop).run();
}

}  // namespace rocetune::twin
