// A profile says what a class map and its flow control should be, without naming a host: data in
// configs/profiles/*.toml or a file of the user's. Every default in those files carries its origin.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/model.h"
#include "agent/host/nic_row.h"
#include "dataplane/base/config_files.h"
#include "dataplane/base/error.h"

namespace rocetune::tune {

// What mlx5 takes as a cable's length; it ignores 0 and what is longer without an error
// (MLX5E_MAX_CABLE_LENGTH).
constexpr Metres kShortestCable{1}, kLongestCable{999};
// From IPv6's least link MTU (RFC 8200) to what fits the field.
constexpr Bytes kSmallestMtu{1280}, kLargestMtu{65535};

// One class of traffic: what marks it, where it goes.
struct ClassSpec {
  std::string name;        // "roce", "cnp"
  std::vector<Dscp> dscp;  // under trust dscp
  Priority priority;
  bool lossless = false;  // PFC on its priority
  TrafficClass tc;
  bool strict = false;  // served first; else a share
  std::uint8_t share_percent = 0;
};

enum class BufferPolicy {
  keep,    // never touched
  driver,  // the driver's own arrangement, unless someone made one and it is below the headroom
  by_size  // "explicit": always set
};

struct Profile {
  std::string name;
  std::string file;  // for messages
  std::string description;
  host::Trust trust = host::Trust::dscp;
  std::vector<ClassSpec> classes;
  TrafficClass default_tc;  // of priorities that no class names
  std::uint8_t default_share_percent = 0;
  bool take_dcbx = true;             // DCBX mode host: firmware does not overwrite
  std::optional<bool> global_pause;  // 802.3x both ways; empty: kept
  std::optional<Bytes> mtu;          // at least; empty: kept
  std::optional<Metres> cable;       // empty: what the port has
  BufferPolicy buffers = BufferPolicy::driver;
  std::optional<Duration> watchdog;  // pfc-prevention-tout; empty: kept
  std::optional<TosByte> cm_tos;     // default of rdma_cm queue pairs; empty: kept
  bool repair_cc = false;            // parameters outside their range get their default
  std::map<std::string, std::map<std::string, std::int64_t>> cc;  // NIC -> parameter -> value
  std::vector<std::string> notes;  // what the network or the application has to do besides

  PrioritySet lossless() const;
};

// Errors: bad_input with every issue, file and line: unknown keys, shares that do not total 100, a DSCP in
// two classes, two classes on one priority, a CNP class that is lossless, parameters the NIC row does not
// have or out of its range.
Expected<Profile> profile_from_toml(std::string_view text, const std::string& file,
                                    const host::NicTable& nics);

// By name (configs/profiles/NAME.toml) or by path. Errors also: those of ConfigFiles::named.
Expected<Profile> load_profile(const std::string& name_or_path, const ConfigFiles& files,
                               const host::NicTable& nics);

}  // namespace rocetune::tune

namespace rocetune {
ROCETUNE_ENUM(tune::BufferPolicy, P{E::keep, "keep"}, P{E::driver, "driver"}, P{E::by_size, "explicit"});
}  // namespace rocetune
