#include "agent/counters/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "congestion/fixed_point.h"

namespace rocetune::counters {
namespace {

// Increments come from hardware and may be anything; what leaves the range of a quantity is not a number
// worth showing.
std::optional<std::int64_t> narrowed(UnsignedWide wide) {
  if (wide > static_cast<UnsignedWide>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::int64_t>(wide);
}

}  // namespace

std::string to_text(const CounterId& id) {
  return id.priority ? fmt::format("{}[{}]", id.name, id.priority->value()) : id.name;
}

const std::map<std::string, std::uint64_t>& PortSample::raw(Source source) const {
  switch (source) {
    case Source::ethtool:
      return ethtool;
    case Source::rdma:
      return rdma;
    case Source::dcb:
      break;
  }
  return dcb;
}

std::map<std::string, std::uint64_t>& PortSample::raw(Source source) {
  return const_cast<std::map<std::string, std::uint64_t>&>(std::as_const(*this).raw(source));
}

Instant PortSample::at(Source source) const {
  return source == Source::ethtool ? ethtool_at : source == Source::rdma ? rdma_at : dcb_at;
}

Instant& PortSample::at(Source source) {
  return source == Source::ethtool ? ethtool_at : source == Source::rdma ? rdma_at : dcb_at;
}

const PortSample* Sample::find_port(std::string_view name) const {
  const auto found = std::ranges::find(ports, name, &PortSample::port);
  return found == ports.end() ? nullptr : &*found;
}

const PortDelta* Interval::find_port(std::string_view name) const {
  const auto found = std::ranges::find(ports, name, &PortDelta::port);
  return found == ports.end() ? nullptr : &*found;
}

Duration PortDelta::elapsed_of(std::string_view name) const {
  const auto source = sources.find(std::string(name));
  if (source == sources.end()) return elapsed;
  switch (source->second) {
    case Source::ethtool:
      return elapsed;
    case Source::rdma:
      return rdma_elapsed;
    case Source::dcb:
      break;
  }
  return dcb_elapsed;
}

std::optional<std::uint64_t> PortDelta::increment(std::string_view name,
                                                  std::optional<Priority> priority) const {
  const auto found = increments.find(CounterId{std::string(name), priority});
  if (found == increments.end() || !found->second) return std::nullopt;
  return *found->second;
}

std::optional<std::uint64_t> PortDelta::level(std::string_view name) const {
  const auto found = levels.find(CounterId{std::string(name), std::nullopt});
  if (found == levels.end()) return std::nullopt;
  return found->second;
}

std::optional<Unavailable> PortDelta::why_absent(std::string_view name,
                                                 std::optional<Priority> priority) const {
  const CounterId id{std::string(name), priority};
  if (levels.contains(id)) return std::nullopt;
  const auto found = increments.find(id);
  if (found == increments.end()) return not_read().value();
  if (found->second) return std::nullopt;
  return found->second.error();
}

std::optional<Ratio> PortDelta::share_of_time(std::string_view name, std::optional<Priority> priority) const {
  const auto microseconds = increment(name, priority);
  const Duration span = elapsed_of(name);
  if (!microseconds || span.count() <= 0) return std::nullopt;
  constexpr UnsignedWide kPicosecondsPerMicrosecond = 1'000'000;
  const auto parts =
      narrowed(static_cast<UnsignedWide>(*microseconds) * kPicosecondsPerMicrosecond *
               static_cast<UnsignedWide>(Ratio::kOne) / static_cast<UnsignedWide>(span.count()));
  if (!parts) return std::nullopt;
  return Ratio(*parts);
}

std::optional<double> PortDelta::per_second(std::string_view name, std::optional<Priority> priority) const {
  const auto events = increment(name, priority);
  const Duration span = elapsed_of(name);
  if (!events || span.count() <= 0) return std::nullopt;
  return static_cast<double>(*events) / span.seconds();
}

std::optional<BitRate> PortDelta::rate(std::string_view name, std::optional<Priority> priority) const {
  const auto bytes = increment(name, priority);
  const Duration span = elapsed_of(name);
  if (!bytes || span.count() <= 0) return std::nullopt;
  constexpr UnsignedWide kPicosecondsPerSecond = 1'000'000'000'000;
  if (*bytes > std::numeric_limits<std::uint64_t>::max() / 8) return std::nullopt;
  const auto bits = narrowed(static_cast<UnsignedWide>(*bytes * 8) * kPicosecondsPerSecond /
                             static_cast<UnsignedWide>(span.count()));
  if (!bits) return std::nullopt;
  return BitRate(*bits);
}

std::optional<Duration> PortDelta::mean_stall(std::string_view side, Priority priority) const {
  const auto microseconds = increment(fmt::format("{}_pause_duration_us", side), priority);
  const auto stalls = increment(fmt::format("{}_pause_transitions", side), priority);
  if (!microseconds || !stalls || *stalls == 0) return std::nullopt;
  const auto picoseconds = narrowed(static_cast<UnsignedWide>(*microseconds) * 1'000'000 / *stalls);
  if (!picoseconds) return std::nullopt;
  return Duration(*picoseconds);
}

}  // namespace rocetune::counters
