// RDMA ports as the texts that were handed over show them, and what the same texts say is used of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/diagnose/facts.h"
#include "agent/evidence/logs/settings.h"
#include "agent/evidence/rdma_tools/rdma_view.h"

namespace rocetune::diagnose {

// Findings of one rule over texts: more would say the same again.
inline constexpr std::size_t kMostShownFindings = 8;

struct ShownPort {
  const evidence::Document* document;
  const evidence::RdmaPortView* view;

  // Empty: not known.
  std::string host() const { return document->host.value_or(""); }
  // "node1 mlx5_0", "mlx5_0".
  std::string subject() const;
  Evidence gid(std::size_t at) const;
};

// Every port of ibv_devinfo, show_gids, ibstat and ibstatus.
std::vector<ShownPort> shown_ports(const DossierFacts& facts);
// Those with GIDs.
std::vector<ShownPort> shown_gid_tables(const DossierFacts& facts);
// The same host, or one that is not known.
bool may_be_one_host(const std::string& a, const std::string& b);

// Variables that an environment, a command or a log sets.
struct ShownSetting {
  const evidence::Document* document;
  const evidence::Setting* setting;

  std::string host() const { return setting->host.empty() ? document->host.value_or("") : setting->host; }
  Evidence shown() const;
};
std::vector<ShownSetting> shown_settings(const DossierFacts& facts, std::string_view name);

// A GID index that is set by number.
struct PinnedIndex {
  int index = 0;
  std::string host;    // empty: not known
  std::string device;  // empty: of all devices
  Evidence evidence;   // "NCCL_IB_GID_INDEX", where
};
std::vector<PinnedIndex> pinned_gid_indices(const DossierFacts& facts);

// All active ports whose link layer is shown are InfiniBand, and there is one.
bool is_infiniband_fabric(const DossierFacts& facts);

// What shows that a text comes from a virtual machine: hypervisor flag, VF ids, emulated bridges, a PCIe link
// of width 0. Empty: nothing does.
struct GuestSigns {
  std::vector<Evidence> evidence;
  bool is_certain = false;  // more than a VF, which containers on bare metal have too
  bool has_gpu = false;     // of the same text
};
GuestSigns guest_signs(const DossierFacts& facts);

}  // namespace rocetune::diagnose
