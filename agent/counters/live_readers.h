// The readers of a running kernel: ethtool by ioctl, DCB and RDMA by netlink, RDMA also by sysfs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/counters/counter_reader.h"
#include "agent/counters/sampler.h"
#include "agent/host/dcb_netlink.h"
#include "agent/host/ethtool_ioctl.h"
#include "agent/host/host_files.h"
#include "agent/host/rdma_netlink.h"

namespace rocetune::counters {

// Statistics of one port. Names are read at first, when their number changes, when told to forget them, and
// once a second: what changes names at an equal number beside PFC (rings, channels) is rare and slow.
class EthtoolCounters : public CounterReader {
 public:
  // `socket` and `clock` must outlive the reader.
  EthtoolCounters(const host::EthtoolSocket& socket, std::string port, const Clock& clock);
  Expected<> read(Block& block) override;
  void forget_names() override { reader_.reset(); }

  static constexpr Duration kNamesGoodFor = seconds(1);

 private:
  Expected<> read_names(Instant now);

  const host::EthtoolSocket& socket_;
  std::string port_;
  const Clock& clock_;
  std::optional<host::StatisticsReader> reader_;
  std::shared_ptr<const NameList> names_;
  Instant names_read_at_;
};

// What struct ieee_pfc counts: pfc_requests_0..7 (pause frames sent) and pfc_indications_0..7 (received). Its
// configuration is the PFC mask.
class DcbCounters : public CounterReader {
 public:
  DcbCounters(host::DcbSocket& socket, std::string port, const Clock& clock);
  Expected<> read(Block& block) override;
  std::uint64_t configuration() const override { return mask_; }

 private:
  host::DcbSocket& socket_;
  std::string port_;
  const Clock& clock_;
  std::shared_ptr<const NameList> names_;
  std::uint64_t mask_ = 0;
};

// Hardware counters of one RDMA port by netlink, which asks the device each time; where the kernel cannot
// (before 5.3, or a device of another namespace), by the files in sysfs.
class RdmaCounters : public CounterReader {
 public:
  // `socket` may be null: files only. `folder`: hw_counters of the port.
  RdmaCounters(host::RdmaSocket* socket, std::string device, int port, std::string folder,
               const Clock& clock);
  Expected<> read(Block& block) override;

 private:
  Expected<> read_netlink(Block& block);

  host::RdmaSocket* socket_;
  std::string device_;
  std::uint32_t port_;
  const Clock& clock_;
  std::optional<std::uint32_t> index_;  // of the device; looked up again after an error
  std::shared_ptr<const NameList> names_;
  HwCounterFiles files_;
  bool use_files_ = false;
};

// The sockets of one network namespace; what could not be opened says why.
struct SocketSet {
  // Of the calling thread's namespace; they stay in it.
  static SocketSet open();
  Expected<host::EthtoolSocket> ethtool;
  Expected<host::DcbSocket> dcb;
  Expected<host::RdmaSocket> rdma;
};

// Socket sets by network namespace, opened when first asked for.
class LiveSockets {
 public:
  explicit LiveSockets(host::HostFiles files = host::HostFiles()) : files_(std::move(files)) {}
  // `network_namespace` as a Port carries it; "" is our own. The set lives as long as this object. Errors:
  // the namespace is gone, or we may not enter it.
  Expected<SocketSet*> in(const std::string& network_namespace);

 private:
  host::HostFiles files_;
  std::map<std::string, std::unique_ptr<SocketSet>> sets_;
};

// Readers for every port of `host`, which was read below `root`. A tree of files that is not the running host
// has only the RDMA counters in sysfs. `sockets` and `clock` must outlive the readers.
std::vector<PortReaders> live_readers(const host::Host& host, const host::HostFiles& files,
                                      LiveSockets& sockets, const Clock& clock);

}  // namespace rocetune::counters
