// What a host is, as plain values. Filled by readers (live kernel, snapshot, pasted text, virtual fabric),
// judged by agent/diagnose, changed only by agent/tune/transaction. Everything that can be missing says why
// it is.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/observed.h"
#include "dataplane/base/reflect.h"

namespace rocetune::host {

// ---- data center bridging (IEEE 802.1Qaz/Qbb), as struct ieee_* in include/uapi/linux/dcbnl.h
// ----------------

enum class Trust { pcp, dscp };

// Who may write DCB state: DCB_CAP_DCBX_* bits.
struct DcbxMode {
  bool host = false;         // DCB_CAP_DCBX_HOST: software owns it
  bool lld_managed = false;  // DCB_CAP_DCBX_LLD_MANAGED: firmware or another engine owns it
  bool cee = false;          // DCB_CAP_DCBX_VER_CEE
  bool ieee = false;         // DCB_CAP_DCBX_VER_IEEE
  bool is_static = false;    // DCB_CAP_DCBX_STATIC
  bool operator==(const DcbxMode&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("host", self.host...);
    visit("lld_managed", self.lld_managed...);
    visit("cee", self.cee...);
    visit("ieee", self.ieee...);
    visit("static", self.is_static...);
  }
};

struct Pfc {
  PrioritySet enabled;
  std::uint8_t capable = 0;                    // how many priorities can be lossless at once (pfc_cap)
  bool macsec_bypass = false;                  // mbc
  std::uint16_t delay = 0;                     // as the driver takes it: mlx5 = cable length in metres
  std::array<std::uint64_t, 8> requests{};     // pause frames sent, per priority
  std::array<std::uint64_t, 8> indications{};  // pause frames received, per priority
  bool operator==(const Pfc&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("enabled", self.enabled...);
    visit("capable", self.capable...);
    visit("macsec_bypass", self.macsec_bypass...);
    visit("delay", self.delay...);
    visit("requests_frames", self.requests...);
    visit("indications_frames", self.indications...);
  }
};

// Transmission selection algorithm, IEEE_8021QAZ_TSA_*.
enum class Tsa : std::uint8_t { strict = 0, credit_based = 1, ets = 2, vendor = 255 };

struct Ets {
  bool willing = false;
  std::uint8_t tc_count = 8;                       // ets_cap
  bool credit_based = false;                       // cbs
  std::array<TrafficClass, 8> tc_of_priority{};    // prio_tc
  std::array<Tsa, 8> tsa{};                        // per TC
  std::array<std::uint8_t, 8> tx_share_percent{};  // per TC, of ets TCs
  std::array<std::uint8_t, 8> rx_share_percent{};
  bool operator==(const Ets&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("willing", self.willing...);
    visit("tc_count", self.tc_count...);
    visit("credit_based", self.credit_based...);
    visit("tc_of_priority", self.tc_of_priority...);
    visit("tsa_of_tc", self.tsa...);
    visit("tx_share_percent_of_tc", self.tx_share_percent...);
    visit("rx_share_percent_of_tc", self.rx_share_percent...);
  }
};

// IEEE_8021QAZ_APP_SEL_*, DCB_APP_SEL_PCP.
enum class AppSelector : std::uint8_t { ethertype = 1, tcp = 2, udp = 3, any_port = 4, dscp = 5, pcp = 255 };

struct AppEntry {
  AppSelector selector = AppSelector::dscp;
  std::uint16_t protocol = 0;  // ethertype, port or DSCP, as the selector says
  Priority priority;
  auto operator<=>(const AppEntry&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("selector", self.selector...);
    visit("protocol", self.protocol...);
    visit("priority", self.priority...);
  }
};

// Receive buffers of the port, struct dcbnl_buffer.
struct PortBuffers {
  std::array<std::uint8_t, 8> buffer_of_priority{};
  std::array<Bytes, 8> size{};
  Bytes total;
  bool operator==(const PortBuffers&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("buffer_of_priority", self.buffer_of_priority...);
    visit("size_bytes", self.size...);
    visit("total_bytes", self.total...);
  }
};

struct Dcb {
  Observed<DcbxMode> dcbx = not_read();
  Observed<Pfc> pfc = not_read();
  Observed<Ets> ets = not_read();
  Observed<std::vector<AppEntry>> app = not_read();  // sorted
  // mlx5: derived from the presence of DSCP app entries; others: from DCB_ATTR_DCB_APP_TRUST_TABLE or OFED
  // sysfs.
  Observed<Trust> trust = not_read();
  Observed<PortBuffers> buffers = not_read();
  Observed<std::array<BitRate, 8>> max_rate = not_read();  // per TC; 0 = unlimited
  Observed<Pfc> peer_pfc = not_read();                     // what DCBX heard from the switch
  Observed<Ets> peer_ets = not_read();
  Observed<std::vector<AppEntry>> peer_app = not_read();
  bool operator==(const Dcb&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("dcbx", self.dcbx...);
    visit("pfc", self.pfc...);
    visit("ets", self.ets...);
    visit("app", self.app...);
    visit("trust", self.trust...);
    visit("buffers", self.buffers...);
    visit("max_rate_bps_of_tc", self.max_rate...);
    visit("peer_pfc", self.peer_pfc...);
    visit("peer_ets", self.peer_ets...);
    visit("peer_app", self.peer_app...);
  }
};

// 802.3x pause of the whole link, ETHTOOL_GPAUSEPARAM.
struct GlobalPause {
  bool autonegotiate = false;
  bool receive = false;
  bool transmit = false;
  bool operator==(const GlobalPause&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("autonegotiate", self.autonegotiate...);
    visit("receive", self.receive...);
    visit("transmit", self.transmit...);
  }
};

// ---- link, PCIe
// ---------------------------------------------------------------------------------------------

struct Link {
  bool admin_up = false;
  bool carrier = false;
  std::optional<BitRate> speed;  // unknown while the link is down
  std::optional<bool> full_duplex;
  std::optional<bool> autonegotiation;
  std::optional<std::string> fec;  // active FEC mode as ethtool names it: "RS", "LLRS", "BaseR", "Off"
  std::optional<std::uint32_t> lanes;
  std::optional<std::uint64_t> carrier_changes;  // since boot
  bool operator==(const Link&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("admin_up", self.admin_up...);
    visit("carrier", self.carrier...);
    visit("speed_bps", self.speed...);
    visit("full_duplex", self.full_duplex...);
    visit("autonegotiation", self.autonegotiation...);
    visit("fec", self.fec...);
    visit("lanes", self.lanes...);
    visit("carrier_changes", self.carrier_changes...);
  }
};

struct PcieLink {
  std::optional<int> width_lanes, max_width_lanes;           // current_link_width, max_link_width
  std::optional<double> speed_gt_per_s, max_speed_gt_per_s;  // current_link_speed, max_link_speed
  Observed<Bytes> max_read_request = not_read();             // DevCtl; needs config space beyond 64 B
  Observed<Bytes> max_payload = not_read();
  Observed<bool> relaxed_ordering = not_read();  // DevCtl enable bit
  // Bridges between this function and the root that redirect peer-to-peer requests (ACS ReqRedir, CmpltRedir
  // or UpstreamFwd on).
  Observed<std::vector<std::string>> acs_redirecting_bridges = not_read();
  bool operator==(const PcieLink&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("width_lanes", self.width_lanes...);
    visit("max_width_lanes", self.max_width_lanes...);
    visit("speed_gt_per_s", self.speed_gt_per_s...);
    visit("max_speed_gt_per_s", self.max_speed_gt_per_s...);
    visit("max_read_request_bytes", self.max_read_request...);
    visit("max_payload_bytes", self.max_payload...);
    visit("relaxed_ordering", self.relaxed_ordering...);
    visit("acs_redirecting_bridges", self.acs_redirecting_bridges...);
  }
};

// ---- RDMA
// ---------------------------------------------------------------------------------------------------

enum class GidType { ib, roce_v1, roce_v2, unknown };

struct Gid {
  int index = 0;
  GidType type = GidType::unknown;
  std::string address;                // eight groups of hex as sysfs prints it
  std::optional<std::string> netdev;  // gid_attrs/ndevs
  bool is_ipv4_mapped() const;        // ::ffff:a.b.c.d
  bool is_link_local() const;         // fe80::/10
  bool operator==(const Gid&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("index", self.index...);
    visit("type", self.type...);
    visit("address", self.address...);
    visit("netdev", self.netdev...);
  }
};

enum class LinkLayer { ethernet, infiniband, unknown };

struct RdmaPort {
  std::string device;  // "mlx5_0"
  int port = 1;
  std::string driver;  // "mlx5_ib", "rdma_rxe"
  LinkLayer link_layer = LinkLayer::unknown;
  std::string state;  // "ACTIVE", "DOWN", as the kernel prints it
  std::optional<std::string> physical_state;
  std::optional<Bytes> active_mtu, max_mtu;
  std::optional<BitRate> rate;
  std::optional<std::string> node_guid, system_image_guid, firmware;
  std::vector<Gid> gids;                                    // occupied slots only
  Observed<std::int64_t> counter_lifespan_ms = not_read();  // hw_counters/lifespan, 0..10000
  Observed<TosByte> cm_default_tos = not_read();       // configfs rdma_cm default_roce_tos: rdma_cm QPs only
  Observed<std::string> cm_default_mode = not_read();  // "RoCE v2"
  Observed<TosByte> global_traffic_class =
      not_read();  // OFED only: /sys/class/infiniband/<d>/tc/<p>/traffic_class
  bool operator==(const RdmaPort&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("device", self.device...);
    visit("port", self.port...);
    visit("driver", self.driver...);
    visit("link_layer", self.link_layer...);
    visit("state", self.state...);
    visit("physical_state", self.physical_state...);
    visit("active_mtu_bytes", self.active_mtu...);
    visit("max_mtu_bytes", self.max_mtu...);
    visit("rate_bps", self.rate...);
    visit("node_guid", self.node_guid...);
    visit("system_image_guid", self.system_image_guid...);
    visit("firmware", self.firmware...);
    visit("gids", self.gids...);
    visit("counter_lifespan_ms", self.counter_lifespan_ms...);
    visit("cm_default_tos", self.cm_default_tos...);
    visit("cm_default_mode", self.cm_default_mode...);
    visit("global_traffic_class", self.global_traffic_class...);
  }
};

// Which algorithm steers this port's queue pairs. Only dcqcn obeys cc_params.
enum class CongestionControl { dcqcn, programmable, off };

// OFED-only per-priority ECN switches (/sys/class/net/<if>/ecn/roce_np|roce_rp/enable/<p>). Upstream has
// none.
struct EcnEnable {
  PrioritySet notification_point;
  PrioritySet reaction_point;
  bool operator==(const EcnEnable&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("notification_point", self.notification_point...);
    visit("reaction_point", self.reaction_point...);
  }
};

// ---- a network port and all that hangs on it
// ----------------------------------------------------------------

enum class PortRole {
  physical,            // PF netdev
  virtual_function,    // VF: QoS is set on its PF
  representor,         // switchdev: stands for a function, not for a wire
  uplink_representor,  // switchdev: the wire's own netdev
  dpu_host,            // host side of a BlueField in DPU mode: the embedded CPU owns the port
  bond,
  software,  // veth, bridge, VLAN, tap carrying a software RDMA device
};

// Why changing this port would hurt someone now.
struct Attachments {
  bool carries_default_route = false;
  std::vector<std::string> ssh_peers;  // peers of established sessions of this host's sshd over this port
  std::vector<std::string> storage_mounts;  // network storage whose server is reached over this port
  // What may hang on this port because it cannot be told on which it hangs, each with why: "/data: server
  // filer is not known", "/proc/mounts: permission denied".
  std::vector<std::string> unknown_sessions, unknown_storage;
  std::vector<std::string> gateway_routes;  // "10.9.0.0/16": reached through a gateway on this port
  bool operator==(const Attachments&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("carries_default_route", self.carries_default_route...);
    visit("ssh_peers", self.ssh_peers...);
    visit("storage_mounts", self.storage_mounts...);
    visit("unknown_sessions", self.unknown_sessions...);
    visit("unknown_storage", self.unknown_storage...);
    visit("gateway_routes", self.gateway_routes...);
  }
};

struct Port {
  std::string name;  // netdev
  int ifindex = 0;
  std::string network_namespace;  // "" = the reader's own; else the name or path it was found under
  PortRole role = PortRole::physical;
  std::string nic;     // row of configs/nics: "mlx5", "bnxt", "irdma", "ionic", "rxe", "unknown"
  std::string driver;  // kernel driver of the netdev
  std::optional<std::string> firmware;
  std::optional<std::string> part_number, psid;  // devlink info / VPD
  std::optional<std::string> pci_address;        // 0000:03:00.0
  std::optional<std::string> pci_id;             // "15b3:101d"
  std::optional<int> numa_node;                  // -1 from the kernel is absent
  std::optional<std::string> mac;
  std::vector<std::string> addresses;            // IPv4 and IPv6 with prefix length
  std::optional<std::string> bond;               // master, if a member
  std::optional<std::string> physical_function;  // of a VF: its PF's netdev or PCI address
  std::vector<std::string> uppers;               // VLANs, bridges, macvlans on top
  Bytes mtu;
  std::optional<Bytes> max_mtu;  // IFLA_MAX_MTU
  Observed<Link> link = not_read();
  Observed<PcieLink> pcie = not_read();
  Observed<RdmaPort> rdma = not_read();
  Dcb dcb;
  Observed<GlobalPause> pause = not_read();
  Observed<std::uint16_t> pfc_prevention_ms = not_read();  // 0 = off, 65535 = driver's auto (100 ms)
  Observed<std::map<std::string, std::int64_t>> cc_params = not_read();  // file -> value
  std::optional<std::string> cc_folder;  // where those files are: "/sys/kernel/debug/mlx5/<BDF>/cc_params"
  Observed<CongestionControl> congestion_control = not_read();
  Observed<EcnEnable> ecn_enable = not_read();
  Observed<std::map<std::string, std::string>> devlink_params = not_read();  // run-time values
  Observed<std::string> eswitch_mode = not_read();
  Observed<Attachments> attachments = not_read();
  bool operator==(const Port&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("ifindex", self.ifindex...);
    visit("network_namespace", self.network_namespace...);
    visit("role", self.role...);
    visit("nic", self.nic...);
    visit("driver", self.driver...);
    visit("firmware", self.firmware...);
    visit("part_number", self.part_number...);
    visit("psid", self.psid...);
    visit("pci_address", self.pci_address...);
    visit("pci_id", self.pci_id...);
    visit("numa_node", self.numa_node...);
    visit("mac", self.mac...);
    visit("addresses", self.addresses...);
    visit("bond", self.bond...);
    visit("physical_function", self.physical_function...);
    visit("uppers", self.uppers...);
    visit("mtu_bytes", self.mtu...);
    visit("max_mtu_bytes", self.max_mtu...);
    visit("link", self.link...);
    visit("pcie", self.pcie...);
    visit("rdma", self.rdma...);
    visit("dcb", self.dcb...);
    visit("pause", self.pause...);
    visit("pfc_prevention_ms", self.pfc_prevention_ms...);
    visit("cc_params", self.cc_params...);
    visit("cc_folder", self.cc_folder...);
    visit("congestion_control", self.congestion_control...);
    visit("ecn_enable", self.ecn_enable...);
    visit("devlink_params", self.devlink_params...);
    visit("eswitch_mode", self.eswitch_mode...);
    visit("attachments", self.attachments...);
  }
};

struct Bond {
  std::string name;
  std::string mode;  // "802.3ad", "active-backup"
  std::string transmit_hash_policy;
  std::vector<std::string> members;
  std::vector<std::string> active_members;  // in the active aggregator and up
  std::optional<std::string> partner_mac;   // 802.3ad
  bool operator==(const Bond&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("mode", self.mode...);
    visit("transmit_hash_policy", self.transmit_hash_policy...);
    visit("members", self.members...);
    visit("active_members", self.active_members...);
    visit("partner_mac", self.partner_mac...);
  }
};

struct Gpu {
  std::string pci_address;
  std::string name;  // "NVIDIA 2330" where no better name is known
  std::optional<int> numa_node;
  bool operator==(const Gpu&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("pci_address", self.pci_address...);
    visit("name", self.name...);
    visit("numa_node", self.numa_node...);
  }
};

// How a NIC and a GPU meet, worst hop first in distance (the words of nvidia-smi topo).
enum class PciDistance { same_switch, same_root, same_numa, cross_numa };
struct Affinity {
  std::string port;
  std::string gpu;
  PciDistance distance = PciDistance::cross_numa;
  bool operator==(const Affinity&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("port", self.port...);
    visit("gpu", self.gpu...);
    visit("distance", self.distance...);
  }
};

enum class Lockdown { none, integrity, confidentiality };

// A program or unit that may write the same state as we do.
struct Owner {
  std::string name;      // "lldpad", "NetworkManager", "netplan", "dcbd"
  std::string evidence;  // what shows that it is there
  bool operator==(const Owner&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("evidence", self.evidence...);
  }
};

struct Host {
  int schema_version = 1;
  std::string name;
  std::string kernel;
  std::string boot_id;  // /proc/sys/kernel/random/boot_id
  std::int64_t taken_at_unix_ns = 0;
  Observed<Lockdown> lockdown = not_read();
  Observed<std::string> hypervisor = not_read();  // "" = bare metal
  Observed<std::string> kernel_command_line = not_read();
  Observed<std::string> iommu = not_read();  // "off", "passthrough", "translating"
  Observed<bool> rdma_namespaces_exclusive = not_read();
  // Network namespaces whose NICs could not be looked at, each with why: "blue (permission: ...)".
  Observed<std::vector<std::string>> unseen_namespaces = not_read();
  Observed<std::vector<Gpu>> gpus = not_read();
  Observed<std::vector<Affinity>> affinity = not_read();
  Observed<std::vector<Owner>> owners = not_read();
  Observed<bool> boot_unit_installed = not_read();  // ours: it brings the confirmed state back after a reboot
  Observed<bool> state_confirmed = not_read();      // our journal holds a state for it to bring back
  std::vector<Port> ports;                          // by PCI address, then name
  std::vector<Bond> bonds;
  bool operator==(const Host&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("schema_version", self.schema_version...);
    visit("name", self.name...);
    visit("kernel", self.kernel...);
    visit("boot_id", self.boot_id...);
    visit("taken_at_unix_ns", self.taken_at_unix_ns...);
    visit("lockdown", self.lockdown...);
    visit("hypervisor", self.hypervisor...);
    visit("kernel_command_line", self.kernel_command_line...);
    visit("iommu", self.iommu...);
    visit("rdma_namespaces_exclusive", self.rdma_namespaces_exclusive...);
    visit("unseen_namespaces", self.unseen_namespaces...);
    visit("gpus", self.gpus...);
    visit("affinity", self.affinity...);
    visit("owners", self.owners...);
    visit("boot_unit_installed", self.boot_unit_installed...);
    visit("state_confirmed", self.state_confirmed...);
    visit("ports", self.ports...);
    visit("bonds", self.bonds...);
  }
  const Port* find_port(std::string_view name) const;
};

// The priority that DSCP `d` is mapped to under trust dscp, or nothing where the port does not say. The
// kernel maps an unlisted DSCP to priority 0 on trust dscp ports of mlx5 (mlx5e_dcbnl: default dscp2prio =
// dscp >> 3 only in hardware reset state), so absence of an entry is reported as such and the caller decides.
std::optional<Priority> priority_of_dscp(const Dcb& dcb, Dscp d);

// For people: "virtual function: QoS is set on its physical function"; "" for a physical port.
std::string_view role_text(PortRole role);

// JSON of a whole host: `inspect --json`, snapshots, and the state that a plan is bound to.
std::string to_json_text(const Host& host);
Expected<Host> host_from_json(std::string_view text, const std::string& file);

}  // namespace rocetune::host

namespace rocetune {
ROCETUNE_ENUM(host::Trust, P{E::pcp, "pcp"}, P{E::dscp, "dscp"});
ROCETUNE_ENUM(host::Tsa, P{E::strict, "strict"}, P{E::credit_based, "cbs"}, P{E::ets, "ets"},
              P{E::vendor, "vendor"});
ROCETUNE_ENUM(host::AppSelector, P{E::ethertype, "ethertype"}, P{E::tcp, "tcp"}, P{E::udp, "udp"},
              P{E::any_port, "any_port"}, P{E::dscp, "dscp"}, P{E::pcp, "pcp"});
ROCETUNE_ENUM(host::GidType, P{E::ib, "ib"}, P{E::roce_v1, "roce_v1"}, P{E::roce_v2, "roce_v2"},
              P{E::unknown, "unknown"});
ROCETUNE_ENUM(host::LinkLayer, P{E::ethernet, "ethernet"}, P{E::infiniband, "infiniband"},
              P{E::unknown, "unknown"});
ROCETUNE_ENUM(host::CongestionControl, P{E::dcqcn, "dcqcn"}, P{E::programmable, "programmable"},
              P{E::off, "off"});
ROCETUNE_ENUM(host::PortRole, P{E::physical, "physical"}, P{E::virtual_function, "virtual_function"},
              P{E::representor, "representor"}, P{E::uplink_representor, "uplink_representor"},
              P{E::dpu_host, "dpu_host"}, P{E::bond, "bond"}, P{E::software, "software"});
ROCETUNE_ENUM(host::PciDistance, P{E::same_switch, "same_switch"}, P{E::same_root, "same_root"},
              P{E::same_numa, "same_numa"}, P{E::cross_numa, "cross_numa"});
ROCETUNE_ENUM(host::Lockdown, P{E::none, "none"}, P{E::integrity, "integrity"},
              P{E::confidentiality, "confidentiality"});
}  // namespace rocetune
