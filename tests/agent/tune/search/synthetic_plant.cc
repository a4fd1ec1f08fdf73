#include "tests/agent/tune/search/synthetic_plant.h"

#include <algorithm>
#include <cmath>

#include "agent/tune/search/score.h"
#include "agent/tune/search/surrogate.h"

namespace rocetune::search {
namespace {

Knob number(std::string name, double min, double max, double best, std::string unit,
            Scale scale = Scale::logarithmic, double step = 1) {
  Knob out;
  out.name = std::move(name);
  out.meaning = "a number of the synthetic plant";
  out.min = min;
  out.max = max;
  out.step = step;
  out.scale = scale;
  out.unit = std::move(unit);
  out.start = best;
  out.start_origin = "synthetic";
  return out;
}

Knob choice(std::string name, std::vector<std::string> choices, ChangeCost cost) {
  Knob out;
  out.name = std::move(name);
  out.meaning = "a choice of the synthetic plant";
  out.kind = KnobKind::categorical;
  out.choices = std::move(choices);
  out.cost = cost;
  out.start_origin = "synthetic";
  return out;
}

Knob toggle(std::string name, bool start) {
  Knob out;
  out.name = std::move(name);
  out.meaning = "a switch of the synthetic plant";
  out.kind = KnobKind::toggle;
  out.start = start ? 1 : 0;
  out.start_origin = "synthetic";
  return out;
}

double squared(double x) { return x * x; }
// Squared distance in decades.
double off(double value, double best) { return squared(std::log10(value / best)); }

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t state = a ^ (b * 0x9e3779b97f4a7c15ULL);
  return splitmix64(state);
}

std::uint64_t hash_of(const Candidate& candidate) {
  std::uint64_t out = 7;
  for (const double value : candidate.values)
    out = mixed(out, static_cast<std::uint64_t>(std::llround(value * 1e6)));
  return out;
}

}  // namespace

Policy shipped_policy() {
  auto policy = load_policy(ConfigFiles());
  ROCETUNE_ASSERT(policy.has_value());
  return *policy;
}

SyntheticPlant::SyntheticPlant(const SyntheticOptions& options, SyntheticWorld& world, std::stop_source* stop)
    : options_(options), world_(world), stop_(stop) {
  Random random(options.seed, 17);
  const auto in = [&](double low, double high) {
    return std::exp(std::log(low) + uniform(random) * std::log(high / low));
  };
  std::vector<Knob> knobs;
  knobs.push_back(choice("hosts.class_map", {"priority 3", "priority 0", "priority 5", "trust pcp"},
                         ChangeCost::bounces_link));
  knobs.push_back(choice("hosts.mtu", {"1024", "2048", "4096"}, ChangeCost::bounces_link));
  knobs.back().start = 2;
  knobs.push_back(choice("hosts.cnp_class", {"priority 6", "priority 3", "priority 0"}, ChangeCost::none));
  knobs.push_back(toggle("switches.pfc", true));
  knobs.push_back(toggle("switches.watchdog", true));
  knobs.push_back(toggle("hosts.dcqcn", true));
  const std::size_t dcqcn = knobs.size() - 1;
  const auto rate = [&](std::string name, double low, double high, double best, std::string unit) {
    knobs.push_back(number(std::move(name), low, high, std::round(best), std::move(unit)));
    knobs.back().lives_while = Knob::Life{dcqcn, {1}};
  };
  rate("dcqcn.ai", 1, 2000, in(20, 200), "mbps");
  rate("dcqcn.hai", 1, 4000, in(20, 60), "mbps");
  rate("dcqcn.timer", 1, 3000, in(30, 300), "us");
  rate("dcqcn.alpha_timer", 1, 3000, in(30, 300), "us");
  knobs.push_back(toggle("dcqcn.clamp", true));
  knobs.back().lives_while = Knob::Life{dcqcn, {1}};
  const double kmin = std::round(in(20, 120));
  knobs.push_back(number("switches.kmin", 1, 8000, kmin, "kb"));
  knobs.push_back(number("switches.kmax", 2, 9000, std::round(kmin * in(2, 6)), "kb"));
  knobs.push_back(number("switches.pmax", 1, 100, std::round(in(5, 40)), "percent"));
  knobs.push_back(number("switches.xoff", 100, 10000, std::round(in(1500, 4000)), "kb"));
  knobs.push_back(number("workload.queue_pairs", 1, 16, 4, "", Scale::linear));
  for (int i = 0; i < options.idle_knobs; ++i) {
    if (i % 3 == 2) {
      knobs.push_back(toggle(fmt::format("idle.{}", i), false));
    } else {
      knobs.push_back(number(fmt::format("idle.{}", i), 1, 1000, std::round(in(1, 1000)), "us"));
    }
  }
  for (std::size_t i = 0; i < knobs.size(); ++i) index_[knobs[i].name] = i;
  for (const Knob& knob : knobs) optimum_.values.push_back(knob.start);

  ripple_ = 0.03 * uniform(random);
  needs_both_ = random.below(2) == 0;
  workloads_ = {{"incast", 1, false}, {"all-to-all", 1, false}, {"ring", 1, false}};
  if (options.has_held_out) workloads_.push_back({"permutation", 1, true});
  for (std::size_t w = 0; w < workloads_.size(); ++w) strength_.push_back(0.5 + uniform(random));

  // Mistuned numbers: a factor of 3 to 30 away, within the range.
  if (options.is_mistuned) {
    for (const char* name :
         {"dcqcn.ai", "dcqcn.hai", "dcqcn.timer", "switches.kmin", "switches.kmax", "switches.pmax"}) {
      if (uniform(random) < 0.3) continue;
      Knob& knob = knobs[index_.at(name)];
      const bool goes_up = std::string_view(name) == "dcqcn.hai" || uniform(random) < 0.5;
      knob.start =
          std::clamp(std::round(knob.start * (goes_up ? in(3, 30) : 1 / in(3, 30))), knob.min, knob.max);
    }
    if (uniform(random) < 0.5) knobs[index_.at("dcqcn.clamp")].start = 0;
    Knob& low = knobs[index_.at("switches.kmin")];
    Knob& high = knobs[index_.at("switches.kmax")];
    high.start = std::clamp(high.start, low.start + 1, high.max);
  }
  struct Fault {
    const char* knob;
    double wrong;
  };
  std::vector<Fault> faults{{"hosts.class_map", 1},
                            {"switches.pfc", 0},
                            {"hosts.mtu", 0},
                            {"hosts.cnp_class", 1},
                            {"switches.kmax", 9000}};
  random.shuffle(std::span(faults));
  faults.resize(static_cast<std::size_t>(std::clamp(options.faults, 0, 5)));
  for (const Fault& fault : faults) {
    Knob& knob = knobs[index_.at(fault.knob)];
    const double right = optimum_.values[index_.at(fault.knob)];
    knob.start = fault.wrong;
    if (!options.knows_remedies) continue;
    // A fix that doctor knows is right about the fault, not about the best number.
    const double fixed = knob.is_numeric() ? 1000 : right;
    Suggestion remedy{Suggestion::Kind::remedy,
                      fmt::format("RULE-{}", suggestions_.size() + 1),
                      std::string(fault.knob) + " is wrong",
                      {{index_.at(fault.knob), fixed}}};
    if (knob.is_numeric()) remedy.settings.push_back({index_.at("switches.kmin"), 100});
    suggestions_.push_back(std::move(remedy));
  }
  if (options.has_false_remedy) {
    suggestions_.push_back(
        {Suggestion::Kind::remedy, "RULE-FALSE", "a wrong rule", {{index_.at("hosts.dcqcn"), 0}}});
  }
  suggestions_.push_back({Suggestion::Kind::preset,
                          "paper",
                          "a published set",
                          {{index_.at("dcqcn.ai"), 40},
                           {index_.at("dcqcn.hai"), 40},
                           {index_.at("dcqcn.timer"), 55},
                           {index_.at("dcqcn.clamp"), 1}}});
  suggestions_.push_back(
      {Suggestion::Kind::preset, "off", "no congestion control", {{index_.at("hosts.dcqcn"), 0}}});

  auto space = Space::of(std::move(knobs));
  ROCETUNE_ASSERT(space.has_value());
  space_ = std::move(*space);
  const std::size_t i_kmin = index_.at("switches.kmin");
  const std::size_t i_kmax = index_.at("switches.kmax");
  const std::size_t i_xoff = index_.at("switches.xoff");
  constraints_.push_back({"ecn-order",
                          "Kmin < Kmax < Xoff",
                          "synthetic",
                          {i_kmin, i_kmax, i_xoff},
                          [=](const Candidate& c) -> std::optional<std::string> {
                            if (c.values[i_kmin] < c.values[i_kmax] && c.values[i_kmax] < c.values[i_xoff])
                              return std::nullopt;
                            return fmt::format("{} {} {}", c.values[i_kmin], c.values[i_kmax],
                                               c.values[i_xoff]);
                          }});
  constraints_.push_back({"buffer",
                          "Xoff + Kmax within 12 MB",
                          "synthetic",
                          {i_kmax, i_xoff},
                          [=](const Candidate& c) -> std::optional<std::string> {
                            if (c.values[i_kmax] + c.values[i_xoff] <= 12000) return std::nullopt;
                            return "too much";
                          }});
  traits_.name = fmt::format("synthetic {}", options.seed);
  traits_.identity = fmt::format("synthetic {} {} {}", options.seed, options.faults, options.noise);
  traits_.is_repeatable = options.is_repeatable;
  if (world_.applied.values.empty()) world_.applied = space_.start();
  world_.is_process_dead = false;
}

bool SyntheticPlant::plant_pair() {
  if (!needs_both_) return false;
  std::vector<Knob> knobs = space_.knobs();
  knobs[index_.at("dcqcn.clamp")].start = 0;
  knobs[index_.at("dcqcn.hai")].start = 40 * optimum_.values[index_.at("dcqcn.hai")];
  space_ = Space::of(std::move(knobs)).value();
  world_.applied = space_.start();
  return true;
}

double SyntheticPlant::value(const Candidate& candidate, const std::string& name) const {
  return candidate.values[index_.at(name)];
}

double SyntheticPlant::log_goodput(const Candidate& c, std::size_t workload) const {
  const double s = strength_[workload];
  const auto best = [&](const char* name) { return optimum_.values[index_.at(name)]; };
  double out = 0;
  if (value(c, "hosts.class_map") != best("hosts.class_map")) out -= 0.7 * s;
  out -= 0.12 * (2 - value(c, "hosts.mtu"));
  if (value(c, "hosts.cnp_class") != best("hosts.cnp_class")) out -= 0.15 * s;
  if (value(c, "switches.pfc") == 0) out -= 0.9 * s;
  // ECN: a best threshold, a best width, a ridge between width and probability, a cliff at Xoff.
  const double kmin = value(c, "switches.kmin");
  const double kmax = value(c, "switches.kmax");
  const double width = kmax / kmin;
  const double best_width = best("switches.kmax") / best("switches.kmin");
  out -= 0.25 * s * std::min(1.5, off(kmin, best("switches.kmin")));
  out -= 0.12 * std::min(1.5, squared(std::log10(std::max(width, 1.01) / best_width) -
                                      0.5 * std::log10(value(c, "switches.pmax") / best("switches.pmax"))));
  out -= 0.06 * s * off(value(c, "switches.pmax"), best("switches.pmax"));
  if (kmax >= value(c, "switches.xoff")) out -= 0.8 * s;
  out -= 0.03 * off(value(c, "switches.xoff"), best("switches.xoff"));
  if (value(c, "hosts.dcqcn") == 0) return out - 0.5 * s;
  // DCQCN: increase and timer make up for each other along a ridge; hyper-increase and clamp only together.
  const double ai = std::log10(value(c, "dcqcn.ai") / best("dcqcn.ai"));
  const double timer = std::log10(value(c, "dcqcn.timer") / best("dcqcn.timer"));
  out -= 0.15 * s * std::min(2.0, squared(ai - timer)) + 0.05 * std::min(2.0, squared(ai + timer));
  out -= 0.04 * off(value(c, "dcqcn.alpha_timer"), best("dcqcn.alpha_timer"));
  const bool is_clamped = value(c, "dcqcn.clamp") == 1;
  const bool is_small = value(c, "dcqcn.hai") <= 2.5 * best("dcqcn.hai");
  if (needs_both_ ? !(is_clamped && is_small) : !(is_clamped || is_small)) out -= 0.5 * s;
  out -= 0.02 * std::min(2.0, off(value(c, "dcqcn.hai"), best("dcqcn.hai")));
  out -= 0.05 * std::fabs(std::log2(value(c, "workload.queue_pairs") / 4));
  // Local optima along the increase.
  return out - ripple_ * (1 - std::cos(9 * ai));
}

Observation SyntheticPlant::truth(const Candidate& candidate, std::size_t workload) const {
  Observation out;
  double log = log_goodput(candidate, workload);
  if (options_.hurts_held_out && workloads_[workload].held_out) log = -1.5 - 0.1 * log;
  out.objectives[Objective::goodput] = 90 * std::exp(log);
  out.objectives[Objective::p99_fct] = 800 * std::exp(-1.6 * log);
  out.objectives[Objective::pause_ratio] = std::clamp(-0.2 * log, 0.0, 0.9);
  if (workload != 2) out.objectives[Objective::fairness] = 1 / (1 - 0.3 * log);
  out.counter_deltas["tx_packets"] = 1'000'000;
  out.took_ns = 1'000'000'000;
  // Deadlock: lossless everywhere, nobody watches, and the switch pauses at once.
  if (value(candidate, "switches.pfc") == 1 && value(candidate, "switches.watchdog") == 0 &&
      value(candidate, "switches.xoff") < 400) {
    out.failure = Failure{FailureKind::hung, "no flow made progress for 10 ms"};
  }
  if (value(candidate, "switches.pfc") == 0 && value(candidate, "hosts.dcqcn") == 0)
    out.breaches.push_back({"lossless-drop", "1234 packets of the lossless class dropped, limit 0"});
  return out;
}

Expected<Observation> SyntheticPlant::observe(const Request& request, std::stop_token stop) {
  const int number = world_.observations++;
  if (!space_.is_safe(request.candidate) || broken(constraints_, space_, request.candidate))
    ++world_.violations;
  if (options_.injected.stopped_at == number && stop_ != nullptr) stop_->request_stop();
  if (stop.stop_requested()) return fail(ErrorKind::conflict, "stopped");
  world_.applied = request.candidate;
  if (options_.injected.killed_at == number) {
    world_.is_process_dead = true;
    throw ProcessKilled();
  }
  std::uint64_t seed = mixed(mixed(options_.seed, request.repeat), request.workload);
  Random common(seed, 1);
  if (!options_.is_repeatable) seed = mixed(seed, static_cast<std::uint64_t>(number));
  Random own(mixed(seed, hash_of(request.candidate)), 2);
  const SyntheticFaults& faults = options_.injected;
  if (uniform(own) < faults.plant_fails) return fail(ErrorKind::io, "host gpu7 is gone");
  Observation out = truth(request.candidate, request.workload);
  const double factor = options_.noise * normal(own) + options_.common_noise * normal(common);
  *out.objectives[Objective::goodput] *= std::exp(factor);
  *out.objectives[Objective::p99_fct] *= std::exp(-1.5 * factor + options_.noise * normal(own));
  if (uniform(own) < faults.workload_fails)
    out.failure = Failure{FailureKind::workload_failed, "exit status 1"};
  if (uniform(own) < faults.hangs) out.failure = Failure{FailureKind::hung, "no output for 60 s"};
  if (uniform(own) < faults.link_down) out.failure = Failure{FailureKind::link_down, "eth0 stays down"};
  if (uniform(own) < faults.nonsense) out.objectives[Objective::goodput] = -1;
  if (uniform(own) < faults.counters_vanish) {
    out.objectives[Objective::pause_ratio].reset();
    out.counter_deltas.clear();
  }
  return out;
}

Expected<> SyntheticPlant::restore() {
  if (world_.is_process_dead) return fail(ErrorKind::io, "nobody is there to restore");
  Random random(mixed(options_.seed, static_cast<std::uint64_t>(world_.observations)), 3);
  if (uniform(random) < options_.injected.restore_fails) return fail(ErrorKind::io, "restore failed");
  world_.applied = space_.start();
  return {};
}

std::optional<double> SyntheticPlant::true_score(const Candidate& candidate, const Policy& policy) const {
  Scorer scorer(*this, policy);
  const auto trial_of = [&](const Candidate& c) {
    Trial trial;
    trial.candidate = c;
    for (std::size_t w = 0; w < workloads_.size(); ++w) trial.observations.emplace_back(truth(c, w));
    return trial;
  };
  scorer.learn_baseline(trial_of(space_.start()));
  return scorer.score(trial_of(candidate), WorkloadSet::searched);
}

}  // namespace rocetune::search
