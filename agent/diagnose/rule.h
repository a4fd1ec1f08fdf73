// One row of the rule table: what it says to people, which ports it applies to, and the judge.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "agent/diagnose/facts.h"

namespace rocetune::diagnose {

using JudgePort = Outcome (*)(const PortFacts&);
// Called only when the port's counters were sampled and, unless the rule judges idle ports, it carried
// traffic.
using JudgeTraffic = Outcome (*)(const PortFacts&, const counters::PortDelta&);
using JudgeHost = Outcome (*)(const HostFacts&);
using JudgeCapture = Outcome (*)(const CaptureFacts&);
// Called once, when texts were handed over. The subject of a finding is a host, device, file or flow of
// theirs.
using JudgeDossier = Outcome (*)(const DossierFacts&);

enum class Scope { host, port, traffic, capture, dossier };

// Where a rule about ports has nothing to say; the engine then answers "not checked" for it.
struct Gates {
  bool infiniband_too = false;  // also holds on InfiniBand links
  bool any_function = false;    // also judged on VFs and the host side of a DPU, which do not own the port
  bool any_nic = false;         // rests on what the kernel defines, not on a NIC's semantics
  bool idle_too = false;        // traffic rules: an idle port can be judged
  // Not judged on a host out of texts: the row of the same id that judges texts sees more of it.
  bool texts_speak = false;
};

struct Rule {
  std::string_view id;         // docs/rules.md
  std::string_view title;      // one line
  std::string_view condition;  // what must hold
  std::string_view why;
  std::string_view needs;    // the facts it needs
  std::string_view decided;  // how the verdict is reached
  std::string_view fix;
  std::string_view source;
  Gates gates;
  std::variant<JudgeHost, JudgePort, JudgeTraffic, JudgeCapture, JudgeDossier> judge;

  Scope scope() const { return static_cast<Scope>(judge.index()); }
};

// The families, one file each, named after them.
std::span<const Rule> link_rules();
std::span<const Rule> gid_rules();
std::span<const Rule> mtu_rules();
std::span<const Rule> ownership_rules();
std::span<const Rule> class_map_rules();
std::span<const Rule> cnp_class_rules();
std::span<const Rule> tos_bytes_rules();
std::span<const Rule> flow_control_rules();
std::span<const Rule> buffers_rules();
std::span<const Rule> ecn_rules();
std::span<const Rule> pcie_rules();
std::span<const Rule> traffic_rules();
std::span<const Rule> captured_class_rules();
std::span<const Rule> captured_traffic_rules();
std::span<const Rule> drift_rules();
std::span<const Rule> told_link_rules();
std::span<const Rule> told_class_rules();
std::span<const Rule> told_loss_rules();
std::span<const Rule> told_receiver_rules();
std::span<const Rule> told_pause_rules();
std::span<const Rule> told_ecn_rules();
std::span<const Rule> persistence_rules();
// Over texts.
std::span<const Rule> transport_errors_rules();
std::span<const Rule> gids_in_texts_rules();
std::span<const Rule> gpu_path_rules();
std::span<const Rule> library_settings_rules();
std::span<const Rule> library_class_rules();
std::span<const Rule> library_devices_rules();
std::span<const Rule> collective_results_rules();
std::span<const Rule> compared_results_rules();
std::span<const Rule> measured_paths_rules();
std::span<const Rule> measured_loss_rules();
std::span<const Rule> congestion_choice_rules();
std::span<const Rule> switch_class_rules();
std::span<const Rule> switch_pause_rules();
std::span<const Rule> switch_buffer_rules();
std::span<const Rule> switch_source_rules();
// Over texts about devices, links, PCIe and hosts.
std::span<const Rule> shown_device_rules();
std::span<const Rule> shown_gid_rules();
std::span<const Rule> shown_address_rules();
std::span<const Rule> both_ends_rules();
std::span<const Rule> shown_pcie_rules();
std::span<const Rule> shown_host_rules();
std::span<const Rule> shown_link_rules();
std::span<const Rule> shown_firmware_rules();

// All rows in the order of causes: what stands earlier explains what stands later.
std::span<const Rule* const> all_rules();

}  // namespace rocetune::diagnose
