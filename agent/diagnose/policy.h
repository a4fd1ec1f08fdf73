// The numbers the rules decide by, as data with their origin: configs/rules.toml and configs/nics.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/nic_row.h"
#include "congestion/units.h"
#include "dataplane/base/config_files.h"
#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune::diagnose {

// How a NIC's lossless receive buffer is sized; `none` where no formula is published.
enum class HeadroomFormula { none, mlx5 };

// What the rules must know about a kind of NIC: its row of configs/nics, and what only they ask for. A kind
// without a row in rules.toml is never judged as healthy.
struct NicTraits {
  host::NicRow row;
  HeadroomFormula headroom = HeadroomFormula::none;
  bool is_hardware = true;          // false: software RDMA, where PFC and ECN do not exist
  bool ignores_ecn_of_tos = false;  // the NIC sets ECT itself, whatever the ToS byte says
  std::string origin;
};

// The class map that is assumed where the host shows no other.
struct DefaultPlan {
  Dscp data_dscp;
  Priority data_priority;
  Dscp cnp_dscp;
  Priority cnp_priority;
  std::vector<Dscp> common_dscps;  // others that people use for RoCE
};

// What results of benchmarks are judged by.
struct BenchThresholds {
  Ratio slow_share;       // of what the network is shown to do: below it the limit is elsewhere
  Ratio near_line_share;  // of a usual link rate: at line rate
  Bytes large_message;    // from here on a collective is limited by bandwidth
  Bytes large_for_mpi;    // the same for MPI and UCX
  Ratio average_share;    // of the best: a footer's average above it hides no small sizes
  Ratio like_share;       // TCP and RDMA within it of each other stop at one limit
  Ratio cliff_share;      // of the best smaller size
  Bytes silent_message;   // busbw 0.00 at this size is no rounding
  Ratio gap_share;        // slow pairs, of the fast ones
  Ratio version_share;    // the worse of two versions, of the better
};

// What a variable of a library may hold.
struct VariableRange {
  std::int64_t minimum = 0, maximum = 0;
  std::string effect;  // of a value outside
};

struct Policy {
  DefaultPlan plan;

  std::uint64_t idle_below_packets = 0;          // fewer RDMA packets in the interval: idle, no verdict
  Ratio class_share;                             // at least this share of RDMA packets must move in the class
  Ratio storm_share;                             // paused at least this share of the interval: storm
  Duration storm_detection;                      // over at least this long
  Ratio notable_pause_share;                     // paused at least this share: worth a finding
  std::uint64_t notable_pause_frames_per_s = 0;  // the same where a NIC counts frames but no time
  std::uint64_t notable_marks = 0;               // CE packets that must lead to CNPs
  std::uint64_t pcie_stall_percent = 0;          // last-second stall that counts as evidence
  Ratio notable_loss;                            // repeated or out-of-sequence share of packets: warning
  Ratio critical_loss;                           //                                            critical
  Ratio notable_frame_errors;                    // damaged frames of all received: the link is at fault
  Ratio uneven_lane;                // share of the corrected bits that one lane alone should not have
  Ratio uneven_raw_lane;            // the same of raw errors before FEC
  int far_fec_bin = 0;              // bad symbols of a codeword that leave FEC little
  std::uint64_t told_increase = 0;  // of errors between two dumps, where no packets are counted: a finding
  std::uint64_t told_total = 0;     // the same of one dump, since boot or reset
  std::uint64_t told_pause_frames = 0;              // since boot or reset: a finding
  Duration told_pause;                              //                        the same in time
  Duration slow_rnr_timer;                          // a receiver-not-ready timer from here on stalls a sender
  double worst_post_fec_ber = 0;                    // more bit errors than that after FEC: a bad link
  std::uint64_t notable_corrected_pcie_errors = 0;  // so many lines about them are worth a finding
  Ratio minimum_ets_share, maximum_ets_share;
  Bytes minimum_mtu, recommended_mtu;  // of the netdev
  Bytes roce_overhead;                 // what the kernel subtracts before it picks the RDMA MTU
  Bytes wanted_read_request;           // PCIe
  int most_lossless_priorities = 1;
  std::vector<std::string> dcb_daemons;  // programs that write DCB, by host::Owner::name

  BenchThresholds bench;
  int longest_usual_timeout = 31, shortest_usual_timeout = 0;  // exponents of a queue pair's timeout
  Duration rnr_stall;                                          // min_rnr_timer 0
  Ratio rnr_tolerance;                                         // around in-flight / stall

  std::map<std::string, NicTraits> nics;           // by host::Port::nic
  std::map<std::string, VariableRange> variables;  // of libraries, by name

  // Empty for a NIC without a row.
  const NicTraits* traits_of(const std::string& nic) const;
};

// What rules.toml says. Error: bad_input with every issue.
Expected<Policy> policy_from_toml(std::string_view text, const std::string& file, const host::NicTable& nics);
// configs/rules.toml.
Expected<Policy> load_policy(const ConfigFiles& files, const host::NicTable& nics);

}  // namespace rocetune::diagnose

namespace rocetune {
ROCETUNE_ENUM(diagnose::HeadroomFormula, P{E::none, "none"}, P{E::mlx5, "mlx5"});
}  // namespace rocetune
