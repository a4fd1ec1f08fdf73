// What is known about a family of NICs, as data: rows of configs/nics/*.toml. A vendor is a row, never a
// branch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/model.h"
#include "dataplane/base/config_files.h"
#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune::host {

// How a driver decides between DSCP and PCP on received frames.
enum class TrustSource {
  by_dscp_entries,  // dscp as soon as one DSCP app entry exists, else pcp
  unknown,          // the row does not know; DCB_ATTR_DCB_APP_TRUST_TABLE or OFED's sysfs may say
};
// What dcbnl's pfc.delay means to the driver.
enum class DelayUnit { metres, none };

// What a write does to the port while it is made; in the order of harm.
enum class WriteEffect {
  none,
  stops_traffic,     // queues are made anew, the link stays
  closes_interface,  // the netdev goes down and up, the link stays: what hangs on the netdev is lost
  bounces_link,      // seconds without carrier
};

// Of each kind of write. Nothing known: the worst.
struct WriteTraits {
  WriteEffect pfc = WriteEffect::bounces_link;  // when the mask changes; nothing otherwise
  WriteEffect ets = WriteEffect::bounces_link;
  WriteEffect app = WriteEffect::bounces_link;
  WriteEffect mtu = WriteEffect::bounces_link;
  // Of forced pause. Negotiated pause is renegotiated by every driver, which bounces the link.
  WriteEffect pause = WriteEffect::bounces_link;
};

struct DcbTraits {
  TrustSource trust = TrustSource::unknown;
  DelayUnit pfc_delay_unit = DelayUnit::none;
  std::uint16_t pfc_delay_default = 0;  // used only if the unit is metres
  std::uint16_t pfc_delay_max = 0;
  bool pause_excludes_pfc = true;
  bool has_buffers = false;
  bool buffer_write_is_sticky = true;  // a write cannot be undone exactly
  std::vector<std::string> tx_algorithms;
  bool dcbx_firmware_takes_over = false;
  // While the firmware's agent owns DCB (lld_managed), the driver refuses every write, that of the DCBX mode
  // included: the command that ends it, "{netdev}" standing for the port. Empty: the host may take DCBX.
  std::string firmware_agent_off;
  // Entering DSCP trust gives each priority the traffic class of its number and class 0 the whole share, and
  // from then on that map is fixed; leaving it sets ETS and PFC to the driver's defaults.
  bool dscp_trust_resets_tables = false;
  // A DSCP that has an entry is given another priority only once that entry is deleted.
  bool refuses_remapping = false;
  // When the driver refuses every DCB write of a port that is in a bond: "Linux 6.6 and later". Empty: never.
  std::string refuses_bond_members;
};

struct WatchdogTraits {
  bool has_pfc_prevention = false;  // ethtool tunable pfc-prevention-tout
  std::uint16_t automatic_ms = 0;
  std::uint16_t min_ms = 0;
  std::uint16_t max_ms = 0;
};

enum class CcInterface {
  debugfs,
  scenario,  // keys of a scenario of the virtual fabric
  none,
};
enum class CcAlgorithm { dcqcn, off, unknown };

// One congestion-control parameter: a file whose content is an integer.
struct CcParameter {
  std::string name;
  std::string unit;  // us, Mbps, MBps, bytes, percent, flag, log2, per1024, dscp, priority, steps, number
  std::optional<std::int64_t> default_value;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string role;
};

struct CcTraits {
  CcInterface interface = CcInterface::none;
  std::string path;               // "{pci}" stands for the PCI address
  std::string alternative_path;   // of out-of-tree drivers, "{rdma}" stands for the RDMA device
  std::string module_parameters;  // folder of load-time parameters
  CcAlgorithm algorithm = CcAlgorithm::unknown;   // what the parameters steer, when they steer
  std::vector<std::string> enable_parameters;     // any of them switches it on or off; empty: always on
  std::vector<std::string> programmable_pci_ids;  // NICs that may run another algorithm instead
  std::string programmable_query;                 // how to ask the firmware which one runs
  std::string fwctl_module;  // kernel module that opens the firmware to questions by fwctl; empty: none
  std::vector<CcParameter> parameters;
  std::string
      parameters_of;  // the row whose parameters these are, and whose values of profiles hold; or empty
  std::string origin;
  const CcParameter* find(std::string_view name) const;
  // A NIC of this id may run another algorithm; one whose id is not known may if any of its family may.
  bool may_be_programmable(const std::optional<std::string>& pci_id) const;
};

struct NicRow {
  std::string name;
  std::string description;
  std::vector<std::string> netdev_drivers;
  std::string rdma_driver;
  std::vector<std::string> dpu_pci_ids;  // functions of NICs that may be under an embedded CPU
  DcbTraits dcb;
  WriteTraits writes;
  WatchdogTraits watchdog;
  CcTraits cc;
};

// The command in full for this port; empty if the row has none.
std::string firmware_agent_off(const DcbTraits& traits, std::string_view netdev);

// Rows by name.
class NicTable {
 public:
  // configs/nics. Errors: as parse.
  static Expected<NicTable> load(const ConfigFiles& files);
  // One row per file. Errors: bad_input with every issue of every file, or no row "unknown".
  static Expected<NicTable> parse(const std::vector<ConfigFile>& files);
  // The row of a netdev's driver; the row "unknown" if no other claims it.
  const NicRow& for_driver(std::string_view netdev_driver) const;
  // Errors are a programmer's mistake: the name must be one that a Port carries.
  const NicRow& named(std::string_view name) const;
  // The same for a name that nobody has vouched for; nullptr: there is no such row.
  const NicRow* find(std::string_view name) const;
  const std::vector<NicRow>& rows() const { return rows_; }

 private:
  std::vector<NicRow> rows_;
};

// Gives every port without a NIC's row the one that its drivers or its RDMA device's name tell ("mlx5_0": the
// kernel names devices after their driver): a port out of texts.
void name_nics(Host& host, const NicTable& nics);

}  // namespace rocetune::host

namespace rocetune {
ROCETUNE_ENUM(host::TrustSource, P{E::by_dscp_entries, "by_dscp_entries"}, P{E::unknown, "unknown"});
ROCETUNE_ENUM(host::DelayUnit, P{E::metres, "metres"}, P{E::none, "none"});
ROCETUNE_ENUM(host::WriteEffect, P{E::none, "none"}, P{E::stops_traffic, "stops_traffic"},
              P{E::closes_interface, "closes_interface"}, P{E::bounces_link, "bounces_link"});
ROCETUNE_ENUM(host::CcInterface, P{E::debugfs, "debugfs"}, P{E::scenario, "scenario"}, P{E::none, "none"});
ROCETUNE_ENUM(host::CcAlgorithm, P{E::dcqcn, "dcqcn"}, P{E::off, "off"}, P{E::unknown, "unknown"});
}  // namespace rocetune
