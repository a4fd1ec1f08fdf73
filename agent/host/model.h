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
  static constexpr auto fields() {
    return std::tuple{field("host", &DcbxMode::host), field("lld_managed", &DcbxMode::lld_managed),
                      field("cee", &DcbxMode::cee), field("ieee", &DcbxMode::ieee),
                      field("static", &DcbxMode::is_static)};
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
  static constexpr auto fields() {
    return std::tuple{field("enabled", &Pfc::enabled),
                      field("capable", &Pfc::capable),
                      field("macsec_bypass", &Pfc::macsec_bypass),
                      field("delay", &Pfc::delay),
                      field("requests_frames", &Pfc::requests),
                      field("indications_frames", &Pfc::indications)};
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
  static constexpr auto fields() {
    return std::tuple{field("willing", &Ets::willing),
                      field("tc_count", &Ets::tc_count),
                      field("credit_based", &Ets::credit_based),
                      field("tc_of_priority", &Ets::tc_of_priority),
                      field("tsa_of_tc", &Ets::tsa),
                      field("tx_share_percent_of_tc", &Ets::tx_share_percent),
                      field("rx_share_percent_of_tc", &Ets::rx_share_percent)};
  }
};

// IEEE_8021QAZ_APP_SEL_*, DCB_APP_SEL_PCP.
enum class AppSelector : std::uint8_t { ethertype = 1, tcp = 2, udp = 3, any_port = 4, dscp = 5, pcp = 255 };

struct AppEntry {
  AppSelector selector = AppSelector::dscp;
  std::uint16_t protocol = 0;  // ethertype, port or DSCP, as the selector says
  Priority priority;
  auto operator<=>(const AppEntry&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("selector", &AppEntry::selector), field("protocol", &AppEntry::protocol),
                      field("priority", &AppEntry::priority)};
  }
};

// Receive buffers of the port, struct dcbnl_buffer.
struct PortBuffers {
  std::array<std::uint8_t, 8> buffer_of_priority{};
  std::array<Bytes, 8> size{};
  Bytes total;
  bool operator==(const PortBuffers&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("buffer_of_priority", &PortBuffers::buffer_of_priority),
                      field("size_bytes", &PortBuffers::size), field("total_bytes", &PortBuffers::total)};
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
  static constexpr auto fields() {
    return std::tuple{field("dcbx", &Dcb::dcbx),
                      field("pfc", &Dcb::pfc),
                      field("ets", &Dcb::ets),
                      field("app", &Dcb::app),
                      field("trust", &Dcb::trust),
                      field("buffers", &Dcb::buffers),
                      field("max_rate_bps_of_tc", &Dcb::max_rate),
                      field("peer_pfc", &Dcb::peer_pfc),
                      field("peer_ets", &Dcb::peer_ets),
                      field("peer_app", &Dcb::peer_app)};
  }
};

// 802.3x pause of the whole link, ETHTOOL_GPAUSEPARAM.
struct GlobalPause {
  bool autonegotiate = false;
  bool receive = false;
  bool transmit = false;
  bool operator==(const GlobalPause&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("autonegotiate", &GlobalPause::autonegotiate),
                      field("receive", &GlobalPause::receive), field("transmit", &GlobalPause::transmit)};
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
  static constexpr auto fields() {
    return std::tuple{field("admin_up", &Link::admin_up),
                      field("carrier", &Link::carrier),
                      field("speed_bps", &Link::speed),
                      field("full_duplex", &Link::full_duplex),
                      field("autonegotiation", &Link::autonegotiation),
                      field("fec", &Link::fec),
                      field("lanes", &Link::lanes),
                      field("carrier_changes", &Link::carrier_changes)};
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
  static constexpr auto fields() {
    return std::tuple{field("width_lanes", &PcieLink::width_lanes),
                      field("max_width_lanes", &PcieLink::max_width_lanes),
                      field("speed_gt_per_s", &PcieLink::speed_gt_per_s),
                      field("max_speed_gt_per_s", &PcieLink::max_speed_gt_per_s),
                      field("max_read_request_bytes", &PcieLink::max_read_request),
                      field("max_payload_bytes", &PcieLink::max_payload),
                      field("relaxed_ordering", &PcieLink::relaxed_ordering),
                      field("acs_redirecting_bridges", &PcieLink::acs_redirecting_bridges)};
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
  static constexpr auto fields() {
    return std::tuple{field("index", &Gid::index), field("type", &Gid::type), field("address", &Gid::address),
                      field("netdev", &Gid::netdev)};
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
  static constexpr auto fields() {
    return std::tuple{field("device", &RdmaPort::device),
                      field("port", &RdmaPort::port),
                      field("driver", &RdmaPort::driver),
                      field("link_layer", &RdmaPort::link_layer),
                      field("state", &RdmaPort::state),
                      field("physical_state", &RdmaPort::physical_state),
                      field("active_mtu_bytes", &RdmaPort::active_mtu),
                      field("max_mtu_bytes", &RdmaPort::max_mtu),
                      field("rate_bps", &RdmaPort::rate),
                      field("node_guid", &RdmaPort::node_guid),
                      field("system_image_guid", &RdmaPort::system_image_guid),
                      field("firmware", &RdmaPort::firmware),
                      field("gids", &RdmaPort::gids),
                      field("counter_lifespan_ms", &RdmaPort::counter_lifespan_ms),
                      field("cm_default_tos", &RdmaPort::cm_default_tos),
                      field("cm_default_mode", &RdmaPort::cm_default_mode),
                      field("global_traffic_class", &RdmaPort::global_traffic_class)};
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
  static constexpr auto fields() {
    return std::tuple{field("notification_point", &EcnEnable::notification_point),
                      field("reaction_point", &EcnEnable::reaction_point)};
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
  std::vector<std::string> storage_mounts;  // network file systems whose server is reached over this port
  bool operator==(const Attachments&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("carries_default_route", &Attachments::carries_default_route),
                      field("ssh_peers", &Attachments::ssh_peers),
                      field("storage_mounts", &Attachments::storage_mounts)};
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
  static constexpr auto fields() {
    return std::tuple{field("name", &Port::name),
                      field("ifindex", &Port::ifindex),
                      field("network_namespace", &Port::network_namespace),
                      field("role", &Port::role),
                      field("nic", &Port::nic),
                      field("driver", &Port::driver),
                      field("firmware", &Port::firmware),
                      field("part_number", &Port::part_number),
                      field("psid", &Port::psid),
                      field("pci_address", &Port::pci_address),
                      field("pci_id", &Port::pci_id),
                      field("numa_node", &Port::numa_node),
                      field("mac", &Port::mac),
                      field("addresses", &Port::addresses),
                      field("bond", &Port::bond),
                      field("physical_function", &Port::physical_function),
                      field("uppers", &Port::uppers),
                      field("mtu_bytes", &Port::mtu),
                      field("max_mtu_bytes", &Port::max_mtu),
                      field("link", &Port::link),
                      field("pcie", &Port::pcie),
                      field("rdma", &Port::rdma),
                      field("dcb", &Port::dcb),
                      field("pause", &Port::pause),
                      field("pfc_prevention_ms", &Port::pfc_prevention_ms),
                      field("cc_params", &Port::cc_params),
                      field("cc_folder", &Port::cc_folder),
                      field("congestion_control", &Port::congestion_control),
                      field("ecn_enable", &Port::ecn_enable),
                      field("devlink_params", &Port::devlink_params),
                      field("eswitch_mode", &Port::eswitch_mode),
                      field("attachments", &Port::attachments)};
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
  static constexpr auto fields() {
    return std::tuple{field("name", &Bond::name),
                      field("mode", &Bond::mode),
                      field("transmit_hash_policy", &Bond::transmit_hash_policy),
                      field("members", &Bond::members),
                      field("active_members", &Bond::active_members),
                      field("partner_mac", &Bond::partner_mac)};
  }
};

struct Gpu {
  std::string pci_address;
  std::string name;  // "NVIDIA 2330" where no better name is known
  std::optional<int> numa_node;
  bool operator==(const Gpu&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("pci_address", &Gpu::pci_address), field("name", &Gpu::name),
                      field("numa_node", &Gpu::numa_node)};
  }
};

// How a NIC and a GPU meet, worst hop first in distance (the words of nvidia-smi topo).
enum class PciDistance { same_switch, same_root, same_numa, cross_numa };
struct Affinity {
  std::string port;
  std::string gpu;
  PciDistance distance = PciDistance::cross_numa;
  bool operator==(const Affinity&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("port", &Affinity::port), field("gpu", &Affinity::gpu),
                      field("distance", &Affinity::distance)};
  }
};

enum class Lockdown { none, integrity, confidentiality };

// A program or unit that may write the same state as we do.
struct Owner {
  std::string name;      // "lldpad", "NetworkManager", "netplan", "dcbd"
  std::string evidence;  // what shows that it is there
  bool operator==(const Owner&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("name", &Owner::name), field("evidence", &Owner::evidence)};
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
  Observed<bool> boot_unit_installed = not_read();  // ours: settings survive a reboot
  std::vector<Port> ports;                          // by PCI address, then name
  std::vector<Bond> bonds;
  bool operator==(const Host&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("schema_version", &Host::schema_version),
                      field("name", &Host::name),
                      field("kernel", &Host::kernel),
                      field("boot_id", &Host::boot_id),
                      field("taken_at_unix_ns", &Host::taken_at_unix_ns),
                      field("lockdown", &Host::lockdown),
                      field("hypervisor", &Host::hypervisor),
                      field("kernel_command_line", &Host::kernel_command_line),
                      field("iommu", &Host::iommu),
                      field("rdma_namespaces_exclusive", &Host::rdma_namespaces_exclusive),
                      field("unseen_namespaces", &Host::unseen_namespaces),
                      field("gpus", &Host::gpus),
                      field("affinity", &Host::affinity),
                      field("owners", &Host::owners),
                      field("boot_unit_installed", &Host::boot_unit_installed),
                      field("ports", &Host::ports),
                      field("bonds", &Host::bonds)};
  }
  const Port* find_port(std::string_view name) const;
};

// The priority that DSCP `d` is mapped to under trust dscp, or nothing where the port does not say. The
// kernel maps an unlisted DSCP to priority 0 on trust dscp ports of mlx5 (mlx5e_dcbnl: default dscp2prio =
// dscp >> 3 only in hardware reset state), so absence of an entry is reported as such and the caller decides.
std::optional<Priority> priority_of_dscp(const Dcb& dcb, Dscp d);

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
