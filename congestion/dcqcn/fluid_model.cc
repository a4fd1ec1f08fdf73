#include "congestion/dcqcn/fluid_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rocetune::dcqcn {
namespace {

// x/(e^x − 1): 1 at nothing, 0 at infinity. What is left of a counter's rate when marks keep resetting it.
double undisturbed(double x) {
  if (x < 1e-12) return 1;
  return x > 700 ? 0 : x / std::expm1(x);
}

Ratio ratio(double value) { return Ratio(std::llround(value * static_cast<double>(Ratio::kOne))); }

struct Condition {
  bool holds;
  OutsideModel otherwise;
};

// All must hold; the first that does not is the error.
std::vector<Condition> conditions(const Parameters& parameters, const Bottleneck& bottleneck) {
  const ReactionPointParameters& rp = parameters.rp;
  const RedCurve& curve = parameters.cp.curve;
  const Duration cnps = parameters.np.minimum_time_between_cnps;
  const bool counts_bytes = !rp.byte_reset.is_zero();
  return {
      {bottleneck.link > BitRate(0), {"link", to_text(bottleneck.link), "a positive rate"}},
      {bottleneck.flows >= 1, {"flows", std::to_string(bottleneck.flows), "at least 1"}},
      {bottleneck.packet > Bytes(0), {"packet", to_text(bottleneck.packet), "a positive size"}},
      {bottleneck.loop_delay >= Duration(0) && bottleneck.loop_delay <= milliseconds(10),
       {"loop delay", to_text(bottleneck.loop_delay), "0s to 10ms"}},
      {rp.clamp_target_rate,
       {"rp_clamp_tgt_rate", "false",
        "true: in the equations every cut sets the target to the current rate"}},
      {std::max(cnps, rp.rate_reduce_monitor_period) > Duration(0),
       {"np_min_time_between_cnps", to_text(cnps),
        "a positive time, or a positive rp_rate_reduce_monitor_period"}},
      {rp.alpha_period > Duration(0), {"rp_dce_tcp_rtt", to_text(rp.alpha_period), "a positive time"}},
      {rp.alpha_decay >= 0 && rp.alpha_decay < 1024,
       {"rp_dce_tcp_g", std::to_string(rp.alpha_decay), "0 to 1023 (in 1/1024)"}},
      {rp.initial_alpha >= 0 && rp.initial_alpha <= 1024,
       {"rp_initial_alpha_value", std::to_string(rp.initial_alpha), "0 to 1024 (in 1/1024)"}},
      {rp.cut_exponent >= 0 && rp.cut_exponent <= 15, {"rp_gd", std::to_string(rp.cut_exponent), "0 to 15"}},
      {rp.minimum_decrease_percent >= 0 && rp.minimum_decrease_percent < 100,
       {"rp_min_dec_fac", std::to_string(rp.minimum_decrease_percent), "0 to 99 (percent)"}},
      {rp.time_reset > Duration(0), {"rp_time_reset", to_text(rp.time_reset), "a positive time"}},
      {rp.byte_reset >= Bytes(0), {"rp_byte_reset", to_text(rp.byte_reset), "a size, or 0B for none"}},
      {rp.threshold >= 0, {"rp_threshold", std::to_string(rp.threshold), "0 or more"}},
      {rp.additive_increase > BitRate(0), {"rp_ai_rate", to_text(rp.additive_increase), "a positive rate"}},
      {counts_bytes || rp.hyper_increase == rp.additive_increase,
       {"rp_hai_rate", to_text(rp.hyper_increase),
        "rp_ai_rate: without a byte counter the timer alone starts hyper increase, which the equations "
        "lack"}},
      {rp.minimum_rate > BitRate(0), {"rp_min_rate", to_text(rp.minimum_rate), "a positive rate"}},
      {rp.maximum_rate.is_zero() || rp.maximum_rate >= rp.minimum_rate,
       {"rp_max_rate", to_text(rp.maximum_rate), "0bps for the link's, or at least rp_min_rate"}},
      {rp.minimum_rate <= bottleneck.link,
       {"rp_min_rate", to_text(rp.minimum_rate), "at most the link's rate"}},
      {curve.minimum >= Bytes(0) && curve.minimum < curve.maximum,
       {"cp_kmin", to_text(curve.minimum), "0B or more, and below cp_kmax"}},
      {curve.probability > Ratio(0) && curve.probability <= Ratio::one(),
       {"cp_pmax", to_text(curve.probability), "above 0% and at most 100%"}},
  };
}

}  // namespace

tl::expected<FluidModel, OutsideModel> FluidModel::of(const Parameters& parameters,
                                                      const Bottleneck& bottleneck) {
  for (const Condition& condition : conditions(parameters, bottleneck)) {
    if (!condition.holds) return tl::unexpected(condition.otherwise);
  }
  const ReactionPointParameters& rp = parameters.rp;
  const auto bits = static_cast<double>(bottleneck.packet.bits());
  const auto packets = [&](Bytes size) { return static_cast<double>(size.bits()) / bits; };
  const auto packet_rate = [&](BitRate rate) { return static_cast<double>(rate.count()) / bits; };
  FluidModel m;
  m.packet_bits_ = bits;
  m.flows_ = bottleneck.flows;
  m.capacity_ = packet_rate(bottleneck.link);
  m.loop_delay_seconds_ = bottleneck.loop_delay.seconds();
  m.cnp_interval_ =
      std::max(parameters.np.minimum_time_between_cnps, rp.rate_reduce_monitor_period).seconds();
  m.alpha_interval_ = rp.alpha_period.seconds();
  m.gain_ = (1024 - rp.alpha_decay) / 1024.0;
  m.initial_alpha_ = rp.initial_alpha / 1024.0;
  m.cut_factor_ = std::ldexp(1, 10 - rp.cut_exponent);
  m.deepest_cut_ = (100 - rp.minimum_decrease_percent) / 100.0;
  m.timer_ = rp.time_reset.seconds();
  m.byte_counter_ = packets(rp.byte_reset);
  m.recovery_stages_ = rp.threshold;
  m.addition_ = packet_rate(rp.additive_increase);
  m.lowest_rate_ = packet_rate(rp.minimum_rate);
  m.highest_rate_ =
      rp.maximum_rate.is_zero() ? m.capacity_ : std::min(m.capacity_, packet_rate(rp.maximum_rate));
  m.kmin_ = packets(parameters.cp.curve.minimum);
  m.kmax_ = packets(parameters.cp.curve.maximum);
  m.highest_marking_ = parameters.cp.curve.probability.value();
  return m;
}

double FluidModel::marking_at(double queue) const {
  if (queue <= kmin_) return 0;
  return queue > kmax_ ? 1 : (queue - kmin_) * marking_slope();
}

double FluidModel::cut_share(double alpha) const { return std::min(alpha * cut_factor_, deepest_cut_); }

// With x = −ln(1−p), n packets in a row go unmarked with probability e^(−n·x), and stages of n packets
// without a mark complete p/(e^(n·x) − 1) times per packet: the paper's b (n = B) and d (n = T·R_C). A share
// e^(−F·n·x) of them comes after F stages: its c and e.
FluidModel::EventRates FluidModel::event_rates(const FluidSignal& past) const {
  if (past.marking >= 1) return {1 / cnp_interval_, 0, 0, 1};
  const double x = -std::log1p(-past.marking);
  const double p_per_x = x > 0 ? past.marking / x : 1;
  const double in_timer = timer_ * past.rate * x;
  const double timer_stages = p_per_x / timer_ * undisturbed(in_timer);
  double byte_stages = 0;
  double byte_additions = 0;
  if (byte_counter_ > 0) {
    byte_stages = p_per_x * past.rate / byte_counter_ * undisturbed(byte_counter_ * x);
    byte_additions = byte_stages * std::exp(-recovery_stages_ * byte_counter_ * x);
  }
  return {-std::expm1(-cnp_interval_ * past.rate * x) / cnp_interval_, timer_stages + byte_stages,
          timer_stages * std::exp(-recovery_stages_ * in_timer) + byte_additions,
          -std::expm1(-alpha_interval_ * past.rate * x)};
}

FluidState FluidModel::slopes(const FluidState& now, const FluidSignal& past) const {
  const EventRates events = event_rates(past);
  const double gap = now.target - now.rate;
  return {-now.rate * cut_share(now.alpha) * events.cuts + gap / 2 * events.increases,
          -gap * events.cuts + addition_ * events.additions,
          gain_ / alpha_interval_ * (events.alpha_goal - now.alpha), flows_ * now.rate - capacity_};
}

FluidState FluidModel::bounded(FluidState state) const {
  state.rate = std::clamp(state.rate, lowest_rate_, highest_rate_);
  state.target = std::clamp(state.target, lowest_rate_, highest_rate_);
  state.queue = std::max(state.queue, 0.0);
  return state;
}

FluidState FluidModel::line_rate_start() const { return {highest_rate_, highest_rate_, initial_alpha_, 0}; }

// Both rate equations give R_T − R_C: from the first, what cuts take against what stages return; from the
// second, what R_AI adds against what cuts take. The first grows with p, the second falls, so they meet once.
FluidModel::Balance FluidModel::balance() const {
  const double rate = capacity_ / flows_;
  const auto gap_from_cuts = [&](const EventRates& e) {
    return 2 * rate * cut_share(e.alpha_goal) * e.cuts / e.increases;
  };
  double low = 1e-15;
  double high = 1;
  // Geometric: p* spans many decades. 100 halvings are more than a double's bits.
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    const EventRates e = event_rates({rate, middle});
    const bool above = e.increases <= 0 || gap_from_cuts(e) * e.cuts > addition_ * e.additions;
    (above ? high : low) = middle;
  }
  const EventRates e = event_rates({rate, low});
  return {{rate, rate + gap_from_cuts(e), e.alpha_goal, kmin_ + low / marking_slope()}, low};
}

tl::expected<FluidModel::Balance, NoFixedPoint> FluidModel::possible_balance() const {
  using Reason = NoFixedPoint::Reason;
  const double rate = capacity_ / flows_;
  if (rate < lowest_rate_) return tl::unexpected(NoFixedPoint{Reason::below_minimum_rate, Ratio(0)});
  if (rate > highest_rate_) return tl::unexpected(NoFixedPoint{Reason::at_maximum_rate, Ratio(0)});
  const Balance b = balance();
  if (b.marking > highest_marking_) {
    return tl::unexpected(NoFixedPoint{Reason::above_kmax, ratio(b.marking)});
  }
  if (b.state.target > highest_rate_) {
    return tl::unexpected(NoFixedPoint{Reason::at_maximum_rate, Ratio(0)});
  }
  return b;
}

tl::expected<FixedPoint, NoFixedPoint> FluidModel::fixed_point() const {
  return possible_balance().map([&](const Balance& b) {
    return FixedPoint{ratio(b.marking), ratio(b.state.alpha), bit_rate(b.state.rate),
                      bit_rate(b.state.target), bytes(b.state.queue)};
  });
}

tl::expected<FluidState, NoFixedPoint> FluidModel::equilibrium() const {
  return possible_balance().map([](const Balance& b) { return b.state; });
}

Bytes FluidModel::bytes(double packets) const { return Bytes(std::llround(packets * packet_bits_ / 8)); }

BitRate FluidModel::bit_rate(double packets_per_second) const {
  return BitRate(std::llround(packets_per_second * packet_bits_));
}

}  // namespace rocetune::dcqcn
