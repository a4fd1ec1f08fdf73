#include "congestion/headroom.h"

#include <algorithm>
#include <array>

#include "congestion/fixed_point.h"

namespace rocetune {
namespace {

// IEEE 802.3 annex 31B.3.7 as sonic-swss tabulates it.
struct PauseResponse {
  std::int64_t gigabits_per_second;
  std::int64_t quanta;
};
constexpr std::array<PauseResponse, 8> kPauseResponses{
    {{10, 67}, {25, 80}, {40, 118}, {50, 147}, {100, 394}, {200, 453}, {400, 905}, {800, 905}}};

}  // namespace

Bytes Mlx5Headroom::xoff_delay() const {
  ROCETUNE_ASSERT(cable >= Metres(0) && cable < Metres(1000));
  const std::int64_t mbps = std::max<std::int64_t>(speed.megabits_per_second(), 40'000);
  const std::int64_t propagation = (301 + 216 * cable.count() / 100) * mbps / 1000;
  return Bytes(propagation + 272 * mtu.count() / 100);
}

Bytes Mlx5Headroom::minimum_lossless_buffer() const { return xoff_delay() + max_mtu + cell; }

Bytes Mlx5Headroom::xoff_threshold(Bytes size) const {
  ROCETUNE_ASSERT(size >= minimum_lossless_buffer());
  return size - xoff_delay();
}

Bytes Mlx5Headroom::xon_threshold(Bytes size) const { return xoff_threshold(size) - max_mtu; }

Parsed<Bytes> SonicHeadroom::peer_response() const {
  for (const PauseResponse& row : kPauseResponses) {
    if (gigabits_per_second(row.gigabits_per_second) == speed) return Bytes(row.quanta * 64);
  }
  return tl::unexpected(UnitError{
      to_text(speed), "a speed of IEEE 802.3 annex 31B: 10, 25, 40, 50, 100, 200, 400 or 800 Gbps"});
}

Bytes SonicHeadroom::on_cable() const {
  const Wide numerator = Wide(2) * cable.count() * speed.megabits_per_second() * 1'000'000'000;
  return Bytes(static_cast<std::int64_t>(numerator / (Wide(198'000'000) * 8192)));
}

Parsed<Bytes> SonicHeadroom::xoff() const {
  const auto response = peer_response();
  if (!response) return tl::unexpected(response.error());
  const std::int64_t mbps = speed.megabits_per_second();

  // Everything below is exact: a fraction with one common denominator, rounded up once at the end.
  // propagation = P / 198e6·8192, with the gearbox term's 8192 folded in.
  constexpr Wide kCable = Wide(198'000'000) * 8192;
  const Wide whole = port_mtu.count() + mac_phy_delay.count() + response->count();
  const Wide propagation = whole * kCable + Wide(2) * cable.count() * mbps * 1'000'000'000 +
                           Wide(2) * mbps * gearbox_delay * 198'000'000;
  // A cell holds one packet's tail at worst: factor cell/64 for large cells, 2·cell/(cell+1) for small ones.
  const bool large_cell = cell.count() > 128;
  const Wide factor_num = large_cell ? cell.count() : 2 * cell.count();
  const Wide factor_den = large_cell ? 64 : cell.count() + 1;
  const Wide occupancy_num =
      (Ratio::kOne - small_packets.count()) * factor_den + Wide(small_packets.count()) * factor_num;
  const Wide occupancy_den = Wide(Ratio::kOne) * factor_den;

  // Split the product so that it stays within 128 bits: bytes first, remainder after.
  const Wide bytes_whole = propagation / kCable;
  const Wide bytes_rest = propagation % kCable;
  const Wide product = bytes_whole * occupancy_num + bytes_rest * occupancy_num / kCable;
  const bool inexact = bytes_rest * occupancy_num % kCable != 0;
  const Wide ceiling = (product + (inexact ? 1 : 0) + occupancy_den - 1) / occupancy_den;
  const Wide total = lossless_mtu.count() + ceiling;
  return Bytes(static_cast<std::int64_t>((total + 1023) / 1024 * 1024));
}

}  // namespace rocetune
