#include "tests/agent/diagnose/host_builder.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace rocetune::diagnose {
namespace {

constexpr const char* kPauseRows[] = {"rx_pause_frames", "rx_pause_duration_us", "rx_pause_transitions",
                                      "tx_pause_frames", "tx_pause_duration_us", "tx_pause_transitions"};
constexpr const char* kQuietCounters[] = {"rx_discards_phy",
                                          "tx_discards_phy",
                                          "pause_storm_warnings",
                                          "pause_storm_errors",
                                          "rx_out_of_buffer",
                                          "pci_buffer_overflow",
                                          "rx_symbol_errors",
                                          "rx_crc_errors",
                                          "link_downs",
                                          "cnp_ignored",
                                          "out_of_sequence",
                                          "sequence_naks_received",
                                          "implied_nak_errors",
                                          "ack_timeouts",
                                          "duplicate_requests",
                                          "rnr_naks_received",
                                          "no_receive_wqe",
                                          "rnr_retries_exceeded",
                                          "adaptive_retransmissions",
                                          "request_flush_errors",
                                          "response_flush_errors",
                                          "request_completion_errors",
                                          "response_completion_errors"};
constexpr std::uint64_t kPackets = 2'000'000;

host::PortBuffers healthy_buffers() {
  host::PortBuffers out;
  out.buffer_of_priority = {0, 0, 0, 1, 0, 0, 0, 0};
  out.size[0] = Bytes(65'536);
  out.size[1] = Bytes(131'072);
  out.total = Bytes(262'016);
  return out;
}

host::Ets healthy_ets() {
  host::Ets out;
  for (int p = 0; p < 8; ++p) {
    out.tc_of_priority[static_cast<std::size_t>(p)] = TrafficClass(p == 3 || p == 6 ? p : 0);
  }
  out.tsa.fill(host::Tsa::vendor);
  out.tsa[0] = out.tsa[3] = host::Tsa::ets;
  out.tsa[6] = host::Tsa::strict;
  out.tx_share_percent = {40, 0, 0, 60, 0, 0, 0, 0};
  out.rx_share_percent = out.tx_share_percent;
  return out;
}

host::RdmaPort healthy_rdma(int index) {
  host::RdmaPort out;
  out.device = fmt::format("mlx5_{}", index);
  out.driver = "mlx5_ib";
  out.link_layer = host::LinkLayer::ethernet;
  out.state = "ACTIVE";
  out.active_mtu = out.max_mtu = Bytes(4096);
  out.rate = gigabits_per_second(100);
  const std::string mapped = fmt::format("0000:0000:0000:0000:0000:ffff:0a00:{:02x}01", index);
  const std::string link_local = "fe80:0000:0000:0000:0e42:a1ff:fe00:0001";
  const std::string netdev = fmt::format("eth{}", index);
  out.gids = {{0, host::GidType::roce_v1, link_local, netdev},
              {1, host::GidType::roce_v2, link_local, netdev},
              {2, host::GidType::roce_v1, mapped, netdev},
              {3, host::GidType::roce_v2, mapped, netdev}};
  out.counter_lifespan_ms = 10;
  out.cm_default_tos = TosByte(Dscp(26), Ecn::ect0);
  out.cm_default_mode = std::string("RoCE v2");
  out.global_traffic_class = absent("no such file: not the vendor's driver");
  return out;
}

host::PcieLink healthy_pcie() {
  host::PcieLink out;
  out.width_lanes = out.max_width_lanes = 16;
  out.speed_gt_per_s = out.max_speed_gt_per_s = 16.0;
  out.max_read_request = Bytes(4096);
  out.max_payload = Bytes(256);
  out.relaxed_ordering = true;
  out.acs_redirecting_bridges = std::vector<std::string>{};
  return out;
}

host::Dcb healthy_dcb() {
  host::Dcb out;
  out.dcbx = host::DcbxMode{.host = true, .cee = true, .ieee = true};
  out.pfc = host::Pfc{.enabled = PrioritySet::of(Priority(3)), .capable = 8, .delay = 7};
  out.ets = healthy_ets();
  out.app = std::vector<host::AppEntry>{{host::AppSelector::dscp, 26, Priority(3)},
                                        {host::AppSelector::dscp, 48, Priority(6)}};
  out.trust = host::Trust::dscp;
  out.buffers = healthy_buffers();
  out.max_rate = std::array<BitRate, 8>{};
  out.peer_pfc = absent("mlx5 keeps no peer objects");
  return out;
}

host::Port healthy_port(int index) {
  host::Port out;
  out.name = fmt::format("eth{}", index);
  out.ifindex = 2 + index;
  out.nic = "mlx5";
  out.driver = "mlx5_core";
  out.firmware = "22.36.1010";
  out.pci_address = fmt::format("0000:{:02x}:00.0", 3 + index);
  out.cc_folder = "/sys/kernel/debug/mlx5/" + *out.pci_address + "/cc_params";
  out.pci_id = "15b3:101d";
  out.numa_node = 0;
  out.mac = "0c:42:a1:00:00:01";
  out.addresses = {fmt::format("10.0.{}.1/24", index)};
  out.mtu = Bytes(9000);
  out.max_mtu = Bytes(9978);
  out.link =
      host::Link{.admin_up = true, .carrier = true, .speed = gigabits_per_second(100), .full_duplex = true};
  out.pcie = healthy_pcie();
  out.rdma = healthy_rdma(index);
  out.dcb = healthy_dcb();
  out.pause = host::GlobalPause{};
  out.pfc_prevention_ms = std::uint16_t{100};
  out.cc_params = std::map<std::string, std::int64_t>{{"np_cnp_dscp", 48},
                                                      {"np_cnp_prio", 6},
                                                      {"np_cnp_prio_mode", 1},
                                                      {"rp_dce_tcp_g", 1019},
                                                      {"rp_time_reset", 300}};
  out.congestion_control = host::CongestionControl::dcqcn;
  out.ecn_enable = absent("no such directory: not the vendor's driver");
  return out;
}

counters::PortDelta healthy_delta(int index) {
  counters::PortDelta out;
  out.port = fmt::format("eth{}", index);
  out.nic = "mlx5";
  out.speed = gigabits_per_second(100);
  out.elapsed = out.rdma_elapsed = out.dcb_elapsed = seconds(2);
  return out;
}

void count_healthy(Scenario& s, std::size_t index) {
  for (const char* name : kQuietCounters) s.count(name, 0, index);
  for (int p = 0; p < 8; ++p) {
    for (const char* name : {"tx_packets", "rx_packets"})
      s.count_priority(name, p, p == 3 ? kPackets : 100, index);
    s.count_priority("rx_discards", p, 0, index);
  }
  for (const char* row : kPauseRows) s.count_priority(row, 3, 0, index);
  s.count_priority("rx_pause_frames", 3, 4, index);
  s.count_priority("rx_pause_duration_us", 3, 60, index);
  for (const char* name : {"rdma_tx_packets", "rdma_rx_packets"}) s.count(name, kPackets, index);
  s.count("rx_corrected_bits", 5'000, index);
  s.count("rx_ce_packets", 4'000, index);
  s.count("cnp_sent", 900, index);
  s.count("cnp_handled", 700, index);
}

}  // namespace

void Scenario::count(const std::string& name, std::uint64_t increment, std::size_t index) {
  delta(index).increments[{name, std::nullopt}] = increment;
}

void Scenario::count_priority(const std::string& name, int priority, std::uint64_t increment,
                              std::size_t index) {
  delta(index).increments[{name, Priority(priority)}] = increment;
}

void Scenario::level(const std::string& name, std::uint64_t value) {
  delta().levels[{name, std::nullopt}] = value;
}

void Scenario::forget(const std::string& name) {
  std::erase_if(delta().increments, [&](const auto& entry) { return entry.first.name == name; });
}

void Scenario::make_idle() {
  for (auto& [id, increment] : delta().increments) {
    if (increment) increment = 0;
  }
}

void Scenario::set_pfc(PrioritySet enabled) {
  dcb().pfc->enabled = enabled;
  for (int p = 0; p < 8; ++p) {
    for (const char* row : kPauseRows) {
      const counters::CounterId id{row, Priority(p)};
      if (!enabled.contains(Priority(p)))
        delta().increments[id] = absent("PFC is off for this priority");
      else if (!delta().increment(row, Priority(p)))
        delta().increments[id] = 0;
    }
  }
}

void Scenario::map(int dscp, int priority) {
  auto& app = *dcb().app;
  std::erase_if(app, [&](const host::AppEntry& e) { return e.protocol == dscp; });
  app.push_back({host::AppSelector::dscp, static_cast<std::uint16_t>(dscp), Priority(priority)});
  std::sort(app.begin(), app.end());
}

Report Scenario::report() const {
  std::vector<JudgedHost> hosts;
  if (has_host) hosts.push_back({&host, sampled ? &interval : nullptr});
  return diagnose(Facts{hosts, declared, test_policy(), only_ports, captures});
}

Scenario healthy() {
  Scenario s;
  s.host.name = "node1";
  s.host.kernel = "6.1.0";
  s.host.lockdown = host::Lockdown::none;
  s.host.hypervisor = std::string();
  s.host.iommu = std::string("passthrough");
  s.host.gpus = std::vector<host::Gpu>{{"0000:05:00.0", "GPU", 0}};
  s.host.affinity = std::vector<host::Affinity>{{"eth0", "0000:05:00.0", host::PciDistance::same_switch},
                                                {"eth1", "0000:05:00.0", host::PciDistance::same_numa}};
  s.host.owners = std::vector<host::Owner>{};
  s.host.boot_unit_installed = true;
  s.host.state_confirmed = true;
  s.interval.elapsed = seconds(2);
  for (int index = 0; index < 2; ++index) {
    s.host.ports.push_back(healthy_port(index));
    s.interval.ports.push_back(healthy_delta(index));
    count_healthy(s, static_cast<std::size_t>(index));
  }
  return s;
}

const Policy& test_policy() {
  static const Policy policy = [] {
    const auto rows = host::NicTable::load(ConfigFiles());
    auto loaded = rows ? load_policy(ConfigFiles(), *rows) : tl::unexpected(rows.error());
    if (!loaded) {
      fmt::print(stderr, "{}\n", loaded.error().text());
      std::abort();
    }
    return std::move(*loaded);
  }();
  return policy;
}

std::vector<std::string> alarms(const Report& report) {
  std::set<std::string> ids;
  for (const Finding& finding : report.findings) {
    if (finding.severity > Severity::info) ids.insert(finding.rule);
  }
  return {ids.begin(), ids.end()};
}

}  // namespace rocetune::diagnose
