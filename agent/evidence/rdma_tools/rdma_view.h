// RDMA ports as a tool shows them: what ibv_devinfo, show_gids, ibstat and ibstatus have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/evidence/document.h"
#include "agent/host/model.h"

namespace rocetune::evidence {

// One port of one device. What the text leaves out is empty or unknown here too.
struct RdmaPortView {
  host::RdmaPort rdma;         // device is empty in a fragment that names none; gids: occupied slots
  std::vector<int> gid_lines;  // of rdma.gids
  std::string part;            // "MT4129", "4129": the adapter's kind
  std::string psid;            // board_id
  std::string vendor;          // "mlx5", "bnxt", "irdma", "qedr", "rxe", "siw": by vendor id or device name
  std::optional<std::uint64_t> lid;
  int line = 0;  // where the device or port begins
  int state_line = 0, layer_line = 0, rate_line = 0, mtu_line = 0, guid_line = 0, firmware_line = 0;

  bool is_active() const { return rdma.state == "ACTIVE"; }
  // By its own word, or by a LID, which Ethernet has none of.
  bool is_infiniband() const {
    return rdma.link_layer == host::LinkLayer::infiniband ||
           (rdma.link_layer == host::LinkLayer::unknown && lid.value_or(0) != 0);
  }
  // The netdev of all its GIDs, if they agree (VLANs on top of it aside).
  std::string netdev() const;
  // "mlx5_0", "mlx5_0/2"; "port" where no device is named.
  std::string name() const;
};

struct RdmaView {
  std::vector<RdmaPortView> ports;

  bool has_gids() const;
  // How many devices the text names; an unnamed one counts.
  std::size_t devices() const;
};

// "4X (2)" and "25.0 Gbps (32)" -> 100 Gb/s. Nothing for nonsense.
std::optional<BitRate> rate_of_lanes(std::string_view width, std::string_view speed);
// "PORT_ACTIVE (4)", "4: ACTIVE", "Active" -> "ACTIVE".
std::string port_state(std::string_view text);
host::LinkLayer link_layer(std::string_view text);
// "0xfc4cea0300000001", "a088:c203:0000:0001" -> "fc4c:ea03:0000:0001" as sysfs prints it.
std::string normal_guid(std::string_view text);
// By what a device's name tells ("mlx5_0", "bnxt_re1", "rxe0"); empty if nothing.
std::string vendor_of_device(std::string_view device);

// The index to use: the lowest of RoCE v2 (or of unpublished type) that is IPv4-mapped; else global IPv6.
std::optional<int> best_gid_index(const std::vector<host::Gid>& gids);

// With gid.rows, gid.best_index (of several devices with their names) and mtu.active_B as facts, and the
// ports as a host where there are any.
Document document_of(RdmaView view);

}  // namespace rocetune::evidence
