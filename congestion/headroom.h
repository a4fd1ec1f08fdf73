// How much buffer a lossless priority needs so that nothing is dropped between sending Xoff and the wire
// falling silent. Two makers' formulas, equal to their sources to the byte.
#pragma once

#include "congestion/units.h"

namespace rocetune {

// What the mlx5 driver computes for a receive buffer of the NIC.
// Source: Linux drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c (calculate_xoff,
// update_xoff_threshold).
struct Mlx5Headroom {
  BitRate speed;    // port speed; below 40 Gb/s the driver computes with 40 Gb/s
  Bytes mtu{9000};  // the netdev's MTU in use
  Metres cable{7};  // MLX5E_DEFAULT_CABLE_LEN; must be 0 <= cable < 1000 (larger is ignored by the driver)
  Bytes max_mtu{9216};  // MLX5E_MAX_PORT_MTU; the netdev's IFLA_MAX_MTU counts instead when it is larger
  Bytes cell{128};      // port buffer cell of ConnectX-5 and later

  // Bytes that may still arrive after Xoff: (301 + 2.16·metres)·Gb/s + 2.72·MTU, each term truncated as the
  // driver's integer arithmetic does.
  Bytes xoff_delay() const;
  // The smallest buffer the driver accepts as lossless: xoff_delay + max_mtu + one cell.
  Bytes minimum_lossless_buffer() const;
  // Thresholds inside a lossless buffer; `size` must be at least minimum_lossless_buffer().
  Bytes xoff_threshold(Bytes size) const;
  Bytes xon_threshold(Bytes size) const;
};

// What SONiC's buffer manager computes for one lossless priority group of a switch port.
// Source: sonic-swss cfgmgr/buffer_headroom_mellanox.lua; pause response from IEEE 802.3 annex 31B.3.7.
struct SonicHeadroom {
  BitRate speed;
  Metres cable{5};
  Bytes port_mtu{9100};               // SONiC's default port MTU
  Bytes lossless_mtu{1024};           // LOSSLESS_TRAFFIC_PATTERN "mtu"
  Ratio small_packets{Ratio::one()};  // LOSSLESS_TRAFFIC_PATTERN "small_packet_percentage" (100)
  Bytes cell{144};                    // ASIC_TABLE "cell_size" of Spectrum-2 and later
  Bytes mac_phy_delay{0};             // ASIC_TABLE "mac_phy_delay", platform data
  std::int64_t gearbox_delay =
      0;  // as PERIPHERAL_TABLE gives it: nanosecond-like, speed·delay/8192 bytes; 0 = none

  // The peer's reaction to a pause frame, in bytes at line rate: quanta × 64 B. Error for a speed annex 31B
  // does not list (the script then takes a platform value, which we do not have).
  Parsed<Bytes> peer_response() const;
  // Bytes on the cable both ways at 198·10⁶ m/s, rounded down. The script divides by 1024 where 1000 is
  // meant, so this is 2.3 % below the physical value; kept, since the switch uses it.
  Bytes on_cable() const;
  // Xoff headroom: lossless MTU + (port MTU + cable + gearboxes + MAC/PHY + peer response) × cell occupancy,
  // rounded up to 1024 B.
  Parsed<Bytes> xoff() const;
};

}  // namespace rocetune
