#include "tests/agent/diagnose/faults.h"

#include <algorithm>

namespace rocetune::diagnose {

bool Fault::shares_place_with(const Fault& other) const {
  return std::any_of(places.begin(), places.end(), [&](const std::string& place) {
    return std::find(other.places.begin(), other.places.end(), place) != other.places.end();
  });
}

namespace {

PrioritySet priorities(std::initializer_list<int> members) {
  PrioritySet out;
  for (const int p : members) out = out.with(Priority(p));
  return out;
}

// Without PFC on priority 3 its pause rows are not there, so what is planted into those cannot be seen.
const std::vector<std::string> kNoPfc{"pfc", "pause received", "pause sent"};

std::vector<Fault> settings() {
  return {
      {"DSCP map onto a lossy priority", "MAP-5", {"map"}, [](Scenario& s) { s.map(26, 2); }},
      {"PFC on none", "MAP-3", kNoPfc, [](Scenario& s) { s.set_pfc({}); }},
      {"PFC on two",
       "MAP-3",
       {"pfc"},
       [](Scenario& s) {
         s.set_pfc(priorities({3, 4}));
       }},
      {"PFC on the CNPs' priority too",
       "MAP-7",
       {"pfc"},
       [](Scenario& s) {
         s.set_pfc(priorities({3, 6}));
       }},
      {"PFC on the CNPs' priority instead", "MAP-7", kNoPfc, [](Scenario& s) { s.set_pfc(priorities({6})); }},
      {"global pause on, which turns PFC off on mlx5", "PFC-1", kNoPfc,
       [](Scenario& s) {
         s.set_pfc({});
         s.port().pause = host::GlobalPause{false, true, true};
       }},
      {"global pause on beside PFC",
       "PFC-1",
       {"pfc"},
       [](Scenario& s) {
         s.port().pause = host::GlobalPause{false, true, false};
       }},
      {"MTU 1500",
       "MTU-1",
       {"mtu"},
       [](Scenario& s) {
         s.port().mtu = Bytes(1500);
         s.rdma().active_mtu = Bytes(1024);
       }},
      {"RoCE v1 GIDs only",
       "GID-1",
       {"gid"},
       [](Scenario& s) {
         for (host::Gid& gid : s.rdma().gids) gid.type = host::GidType::roce_v1;
       }},
      {"trust pcp",
       "MAP-1",
       {"map"},
       [](Scenario& s) {
         s.dcb().app->clear();
         s.dcb().trust = host::Trust::pcp;
       }},
      {"lossless buffer under its headroom",
       "PFC-3",
       {"buffer"},
       [](Scenario& s) { s.dcb().buffers->size[1] = Bytes(20'480); }},
      {"CNP DSCP wrong",
       "MAP-2",
       {"np_cnp_dscp"},
       [](Scenario& s) { (*s.port().cc_params)["np_cnp_dscp"] = 46; }},
      {"cc_params out of range",
       "ECN-5",
       {"rp_dce_tcp_g"},
       [](Scenario& s) { (*s.port().cc_params)["rp_dce_tcp_g"] = 2000; }},
      {"watchdog off",
       "PFC-4",
       {"watchdog"},
       [](Scenario& s) { s.port().pfc_prevention_ms = std::uint16_t{0}; }},
      {"DCBX left to willing firmware", "PFC-2", {"dcbx"}, [](Scenario& s) { s.dcb().dcbx->host = false; }},
      {"DCBX willing bit", "PFC-2", {"dcbx"}, [](Scenario& s) { s.dcb().ets->willing = true; }},
  };
}

std::vector<Fault> events() {
  return {
      {"storm received",
       "PFC-5",
       {"pause received"},
       [](Scenario& s) {
         s.count_priority("rx_pause_duration_us", 3, 1'995'000);
         s.count_priority("rx_pause_frames", 3, 7'000);
       }},
      {"storm sent",
       "PFC-5",
       {"pause sent"},
       [](Scenario& s) {
         s.count_priority("tx_pause_duration_us", 3, 1'999'000);
         s.count_priority("tx_pause_frames", 3, 7'000);
       }},
      {"slow receiver",
       "PFC-6",
       {"pause sent"},
       [](Scenario& s) {
         s.count_priority("tx_pause_duration_us", 3, 400'000);
         s.count_priority("tx_pause_frames", 3, 2'000);
         s.level("pci_stalled_write_percent", 55);
       }},
      {"slow receiver without receive requests",
       "PFC-6",
       {"pause sent"},
       [](Scenario& s) {
         s.count_priority("tx_pause_duration_us", 3, 400'000);
         s.count("no_receive_wqe", 800);
       }},
      {"broken ECN: marks without CNPs", "ECN-3", {"cnp_sent"}, [](Scenario& s) { s.count("cnp_sent", 0); }},
      {"broken ECN: pause without CNPs",
       "ECN-3",
       {"pause received", "cnp_handled"},
       [](Scenario& s) {
         s.count_priority("rx_pause_duration_us", 3, 300'000);
         s.count_priority("rx_pause_frames", 3, 1'500);
         s.count("cnp_handled", 0);
       }},
  };
}

}  // namespace

const std::vector<Fault>& all_faults() {
  static const std::vector<Fault> faults = [] {
    std::vector<Fault> out = settings();
    for (Fault& event : events()) out.push_back(std::move(event));
    return out;
  }();
  return faults;
}

}  // namespace rocetune::diagnose
