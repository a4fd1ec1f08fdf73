// Ethtool by ioctl (SIOCETHTOOL, include/uapi/linux/ethtool.h): works on every kernel, needs no generic
// netlink. Every call holds the kernel's RTNL lock while the driver answers: do not poll faster than 20 times
// the measured read time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/host/model.h"
#include "dataplane/base/error.h"

namespace rocetune::host {

// ETHTOOL_GDRVINFO.
struct DriverInfo {
  std::string driver;
  std::string firmware;  // as the driver words it; mlx5: "28.39.1002 (MT_0000000838)"
  std::string bus;       // PCI address for PCI devices
  std::uint32_t statistics = 0;
  bool operator==(const DriverInfo&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("driver", self.driver...);
    visit("firmware", self.firmware...);
    visit("bus", self.bus...);
    visit("statistics", self.statistics...);
  }
};

// ETHTOOL_GLINKSETTINGS without the mode masks.
struct LinkSettings {
  std::optional<BitRate> speed;  // unknown while the link is down
  std::optional<bool> full_duplex;
  bool autonegotiation = false;
  bool operator==(const LinkSettings&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("speed_bps", self.speed...);
    visit("full_duplex", self.full_duplex...);
    visit("autonegotiation", self.autonegotiation...);
  }
};

// Memory the kernel writes into without asking for its size: slack behind what is expected, then a page that
// nobody may touch. More values than expected end in EFAULT, never in other memory.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t size);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  void* data() const { return usable_; }
  std::size_t size() const { return usable_size_; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapping_size_ = 0;
  void* usable_ = nullptr;
  std::size_t usable_size_ = 0;
};

// A socket for ethtool requests in the network namespace of the thread that opened it; it stays there.
class EthtoolSocket {
 public:
  // Carries out one ethtool command on a port: returns 0 or an errno. `command` points to a struct that
  // begins with the command number.
  using Control = std::function<int(const std::string& port, void* command)>;

  static Expected<EthtoolSocket> open();
  // With a kernel of the caller's own: tests.
  explicit EthtoolSocket(Control control) : control_(std::move(control)) {}

  // Errors of all: absent if there is no such port, unsupported if its driver does not implement the command,
  // denied.
  Expected<DriverInfo> driver_info(const std::string& port) const;
  Expected<LinkSettings> link_settings(const std::string& port) const;
  Expected<bool> link_detected(const std::string& port) const;
  // Active FEC as ethtool names it: "RS", "LLRS", "BaseR", "Off". Absent while the link is down.
  Expected<std::string> active_fec(const std::string& port) const;
  Expected<GlobalPause> pause(const std::string& port) const;
  Expected<> set_pause(const std::string& port, const GlobalPause& pause) const;
  // ETHTOOL_PFC_PREVENTION_TOUT in ms: 0 = off, 65535 = the driver's automatic value.
  Expected<std::uint16_t> pfc_prevention(const std::string& port) const;
  Expected<> set_pfc_prevention(const std::string& port, std::uint16_t milliseconds) const;
  // ETHTOOL_GPERMADDR, "08:c0:eb:12:34:56".
  Expected<std::string> permanent_address(const std::string& port) const;
  // ETHTOOL_GSSET_INFO of ETH_SS_STATS: how many statistics there are now.
  Expected<std::uint32_t> statistics_count(const std::string& port) const;

  // One command with a struct that begins with its number. errno becomes an Error.
  Expected<> control(const std::string& port, void* command, const char* what) const;

 private:
  Control control_;
};

// The statistics of one port: names read once, values many times without allocating.
//
// The kernel copies as many values as the driver has at that moment, whatever the caller expected. A driver's
// set changes with its configuration (mlx5: pause rows exist only for priorities with PFC on), also to
// another set of the same size: read the names anew after every change of PFC or pause, and when read()
// reports a conflict.
class StatisticsReader {
 public:
  // Values that may appear between two reads before the guard page answers.
  static constexpr std::size_t kSlack = 256;

  // Reads the names. Errors: conflict if the set changed while they were read (ask again).
  static Expected<StatisticsReader> open(const EthtoolSocket& socket, const std::string& port);

  const std::vector<std::string>& names() const { return names_; }
  // Values in the order of names(), valid until the next read. Errors: conflict if there are now more or
  // fewer values than names.
  Expected<std::span<const std::uint64_t>> read();

 private:
  StatisticsReader(const EthtoolSocket& socket, std::string port, std::vector<std::string> names);

  const EthtoolSocket* socket_;  // outlives the reader
  std::string port_;
  std::vector<std::string> names_;
  GuardedBuffer buffer_;
};

}  // namespace rocetune::host
