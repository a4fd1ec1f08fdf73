#include "agent/tune/twin/quantities.h"

namespace rocetune::twin {
namespace {

std::optional<double> counted(const search::Observation& observation, const char* counter) {
  const auto found = observation.counter_deltas.find(counter);
  if (found == observation.counter_deltas.end()) return std::nullopt;
  return static_cast<double>(found->second);
}

std::optional<double> ratio(const std::optional<double>& of, const std::optional<double>& over) {
  if (!of || !over || *over <= 0) return std::nullopt;
  return *of / *over;
}

}  // namespace

const std::array<QuantityKind, kQuantities>& quantity_kinds() {
  static const std::array<QuantityKind, kQuantities> kKinds{{
      {Quantity::goodput, "goodput", "Gb/s", 0.05, 1e-6},
      {Quantity::busbw, "busbw", "Gb/s", 0.05, 1e-6},
      {Quantity::latency, "latency", "us", 0.1, 1e-3},
      {Quantity::p99_fct, "p99_fct", "us", 0.15, 1e-3},
      {Quantity::ce_ratio, "ce_ratio", "", 0.1, 1e-4},
      {Quantity::cnp_ratio, "cnp_ratio", "", 0.15, 1e-4},
      {Quantity::pause_received, "pause_received", "us/MB", 0.2, 0.1},
      {Quantity::pause_sent, "pause_sent", "us/MB", 0.2, 0.1},
  }};
  return kKinds;
}

const QuantityKind& kind_of(Quantity quantity) {
  return quantity_kinds()[static_cast<std::size_t>(quantity)];
}

Readings readings_of(const search::Observation& observation) {
  constexpr double kMega = 1e6;
  Readings out;
  const search::Objectives& objectives = observation.objectives;
  out[Quantity::goodput] = objectives[search::Objective::goodput];
  out[Quantity::busbw] = objectives[search::Objective::busbw];
  out[Quantity::latency] = objectives[search::Objective::latency];
  out[Quantity::p99_fct] = objectives[search::Objective::p99_fct];
  const auto received = counted(observation, "rdma_rx_packets");
  out[Quantity::ce_ratio] = ratio(counted(observation, "rx_ce_packets"), received);
  out[Quantity::cnp_ratio] = ratio(counted(observation, "cnp_sent"), received);
  if (!out[Quantity::cnp_ratio])
    out[Quantity::cnp_ratio] =
        ratio(counted(observation, "cnp_handled"), counted(observation, "rdma_tx_packets"));
  const auto per_mega = [&](const char* duration, const char* bytes) {
    const auto value = ratio(counted(observation, duration), counted(observation, bytes));
    return value ? std::optional(*value * kMega) : std::nullopt;
  };
  out[Quantity::pause_received] = per_mega("rx_pause_duration_us", "rdma_tx_bytes");
  out[Quantity::pause_sent] = per_mega("tx_pause_duration_us", "rdma_rx_bytes");
  return out;
}

}  // namespace rocetune::twin
