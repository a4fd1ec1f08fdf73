#include "agent/counters/deltas.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace rocetune::counters {
namespace {

constexpr std::uint64_t kWrap32 = std::uint64_t{1} << 32;
// A fall that would mean more than half the range is far more likely a restart from zero.
constexpr std::uint64_t kLargestWrap = kWrap32 / 2;
constexpr BitRate kFastestLink = gigabits_per_second(800);
// 64 bytes of frame, 8 of preamble, 12 of gap (IEEE 802.3).
constexpr std::int64_t kSmallestFrameOnWireBits = (64 + 8 + 12) * 8;

Observed<Duration> elapsed_of(Source source, const PortReading& before, const PortReading& after) {
  const auto& first = before.blocks[index_of(source)];
  const auto& second = after.blocks[index_of(source)];
  if (!first || !second) return not_read();
  const Duration elapsed = second->at - first->at;
  if (elapsed.count() <= 0) return failed("no time passed between the two readings");
  // hw_counters are cached: a shorter interval would divide an old number by a new time.
  if (elapsed < second->resolution) {
    return absent(fmt::format("the kernel renews these every {}; the interval of {} is shorter",
                              to_text(second->resolution), to_text(elapsed)));
  }
  return elapsed;
}

class PortDiffer {
 public:
  PortDiffer(const Schema& schema, const PortReading& before, const PortReading& after)
      : schema_(schema), before_(before), after_(after) {
    for (const Source source : kSources) elapsed_[index_of(source)] = elapsed_of(source, before, after);
  }

  PortDelta run() {
    PortDelta out;
    out.port = after_.port;
    out.nic = after_.nic;
    out.speed = after_.speed ? after_.speed : before_.speed;
    speed_ = out.speed;
    out.elapsed = elapsed(Source::ethtool);
    out.rdma_elapsed = elapsed(Source::rdma);
    out.dcb_elapsed = elapsed(Source::dcb);
    for (std::size_t slot = 0; slot < schema_.slots().size(); ++slot) add(slot, out);
    return out;
  }

 private:
  Duration elapsed(Source source) const { return elapsed_[index_of(source)].value_or(Duration()); }

  void add(std::size_t slot, PortDelta& out) const {
    const auto& [id, index] = schema_.slots()[slot];
    const Definition& definition = schema_.definitions()[index];
    const Layout::Place& place = after_.layout->place(slot);
    if (place.index >= 0) out.sources.insert_or_assign(id.name, place.source);
    if (definition.kind == Kind::level) {
      const auto value = after_.value(slot);
      if (value)
        out.levels.emplace(id, *value);
      else
        out.increments.emplace(id, tl::unexpected(value.error()));
      return;
    }
    out.increments.emplace(id, increment(slot, definition, place));
  }

  Observed<std::uint64_t> increment(std::size_t slot, const Definition& definition,
                                    const Layout::Place& now) const {
    const Layout::Place& then = before_.layout->place(slot);
    if (now.index < 0) {
      Unavailable why = after_.layout->why_absent(slot, after_.blocks);
      if (then.index >= 0) why.why = "vanished during the interval: " + why.why;
      return tl::unexpected(std::move(why));
    }
    if (then.index < 0) {
      return absent("appeared during the interval: at its start, " +
                    before_.layout->why_absent(slot, before_.blocks).why);
    }
    const std::string now_name = after_.layout != before_.layout ? after_.layout->vendor_name(slot) : "";
    if (after_.layout != before_.layout) {
      const std::string then_name = before_.layout->vendor_name(slot);
      if (then.source != now.source || then_name != now_name || then.row != now.row) {
        return absent(
            fmt::format("read as {} at the start of the interval and as {} at its end", then_name, now_name));
      }
    }
    const auto& elapsed = elapsed_[index_of(now.source)];
    if (!elapsed) return tl::unexpected(elapsed.error());
    const std::uint64_t first = raw(before_, then);
    const auto divisor = static_cast<std::uint64_t>(now.row->divide_by);
    auto most = most_within(definition.unit, *elapsed, speed_);
    if (most && *most <= std::numeric_limits<std::uint64_t>::max() / divisor) *most *= divisor;
    auto grown = increase(first, raw(after_, now), now.row->width_bits, most);
    if (!grown || divisor == 1) return grown;
    // Rounded so that the increments of adjoining intervals add up to that of the whole.
    return (first % divisor + *grown) / divisor;
  }

  static std::uint64_t raw(const PortReading& reading, const Layout::Place& place) {
    return reading.blocks[index_of(place.source)]->values[static_cast<std::size_t>(place.index)];
  }

  const Schema& schema_;
  const PortReading& before_;
  const PortReading& after_;
  std::optional<BitRate> speed_;
  std::array<Observed<Duration>, kSourceCount> elapsed_{not_read(), not_read(), not_read()};
};

template <class Ports>
auto find_port(Ports& ports, std::string_view name) {
  return std::ranges::find_if(ports, [&](const auto& port) { return port.port == name; });
}

}  // namespace

Observed<std::uint64_t> increase(std::uint64_t before, std::uint64_t after, int width_bits,
                                 std::optional<std::uint64_t> most) {
  if (after >= before) return after - before;
  if (width_bits == 32 && before < kWrap32) {
    const std::uint64_t wrapped = after + kWrap32 - before;
    if (wrapped < kLargestWrap && (!most || wrapped <= *most)) return wrapped;
  }
  return absent(fmt::format("counter went backwards, from {} to {}: reset?", before, after));
}

std::optional<std::uint64_t> most_within(Unit unit, Duration elapsed, std::optional<BitRate> speed) {
  if (elapsed.count() <= 0) return 0;
  const auto rounded = [](double amount) -> std::optional<std::uint64_t> {
    if (amount >= 1.8e19) return std::nullopt;  // more than 64 bits hold: no bound
    return static_cast<std::uint64_t>(amount) + 1;
  };
  const double seconds = elapsed.seconds() * 1.1;  // clocks and read times are not exact
  const double bits = seconds * static_cast<double>(speed.value_or(kFastestLink).bits_per_second());
  switch (unit) {
    case Unit::packets:
    case Unit::frames:
    case Unit::events:
      return rounded(bits / kSmallestFrameOnWireBits);
    case Unit::bytes:
      return rounded(bits / 8);
    case Unit::bits:
      return rounded(bits);
    case Unit::microseconds:
      return rounded(seconds * 1e6);
    case Unit::seconds:
      return rounded(seconds);
    case Unit::percent:
      break;
  }
  return std::nullopt;
}

PortDelta delta_between(const Schema& schema, const PortReading& before, const PortReading& after) {
  ROCETUNE_ASSERT(before.layout != nullptr && after.layout != nullptr);
  return PortDiffer(schema, before, after).run();
}

Interval interval_between(const Schema& schema, const Reading& before, const Reading& after) {
  Interval out{before.taken_unix_ns, after.taken_unix_ns, after.at - before.at, {}};
  for (const PortReading& port : after.ports) {
    const auto first = find_port(before.ports, port.port);
    if (first != before.ports.end()) out.ports.push_back(delta_between(schema, *first, port));
  }
  return out;
}

Interval interval_between(const Schema& schema, const Sample& before, const Sample& after) {
  return interval_between(schema, to_reading(schema, before), to_reading(schema, after));
}

}  // namespace rocetune::counters
