// Names of counters in pasted texts beside those of configs/counters.
#pragma once

#include <string_view>

namespace rocetune::diagnose {

// Drivers that have no table in configs/counters, because rocetune knows their NICs only from texts.
// Source: Linux drivers/net/ethernet: intel/ixgbe/ixgbe_ethtool.c, intel/igb/igb_ethtool.c,
// intel/i40e/i40e_ethtool.c, mellanox/mlx4/en_ethtool.c, emulex/benet/be_ethtool.c,
// broadcom/bnx2x/bnx2x_ethtool.c; include/linux/ethtool.h (pause statistics of `ethtool -I -a`).
struct OtherName {
  std::string_view printed;  // "{p}": a priority
  std::string_view name;     // of the schema
};
inline constexpr OtherName kOtherNames[] = {
    {"tx_flow_control_xoff", "tx_global_pause_frames"},
    {"rx_flow_control_xoff", "rx_global_pause_frames"},
    {"port.link_xoff_tx", "tx_global_pause_frames"},
    {"port.link_xoff_rx", "rx_global_pause_frames"},
    {"port.tx_priority_{p}_xoff", "tx_pause_frames"},
    {"port.rx_priority_{p}_xoff", "rx_pause_frames"},
    {"port.rx_crc_errors", "rx_crc_errors"},
    {"port.rx_dropped", "rx_discards_phy"},
    {"rx_crc_errors", "rx_crc_errors"},
    {"rx_missed_errors", "rx_discards_phy"},
    {"rx_fifo_errors", "rx_discards_phy"},
    {"rx_pause", "rx_global_pause_frames"},
    {"tx_pause", "tx_global_pause_frames"},
    {"rx_pause_prio_{p}", "rx_pause_frames"},
    {"tx_pause_prio_{p}", "tx_pause_frames"},
    {"rx_pause_duration_prio_{p}", "rx_pause_duration_us"},
    {"tx_pause_duration_prio_{p}", "tx_pause_duration_us"},
    {"rx_prio_{p}_packets", "rx_packets"},
    {"tx_prio_{p}_packets", "tx_packets"},
    {"rx_prio_{p}_bytes", "rx_bytes"},
    {"tx_prio_{p}_bytes", "tx_bytes"},
    {"rx_pause_frames", "rx_global_pause_frames"},
    {"tx_pause_frames", "tx_global_pause_frames"},
    {"tx_pauseframes", "tx_global_pause_frames"},
    {"rx_priority_pause_frames", "rx_pause_ctrl_frames"},
    {"rx_discards", "rx_discards_phy"},
    // mlx5 as old documents write it, without _phy.
    {"rx_symbol_err", "rx_symbol_errors"},
    {"rx_pcs_symbol_err", "rx_pcs_symbol_errors"},
    {"rx_pause_ctrl", "rx_pause_ctrl_frames"},
    {"tx_pause_ctrl", "tx_pause_ctrl_frames"},
    {"rx_corrected_bits", "rx_corrected_bits"},
    {"rx_discards_port", "rx_discards_phy"},
};

}  // namespace rocetune::diagnose
