// The DPDK part as its users see it: what stands between this host and packets from user space, as plain
// values; and ports, as bursts. No DPDK header here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/observed.h"
#include "dataplane/base/part.h"
#include "dataplane/base/reflect.h"
#include "dataplane/port/packet_port.h"

namespace rocetune::dpdk {

// One size of huge page. Source: /sys/kernel/mm/hugepages, and per memory node /sys/devices/system/node.
struct HugepagePool {
  Bytes page_size;
  std::int64_t reserved = 0;                // nr_hugepages
  std::int64_t free = 0;                    // free_hugepages
  std::vector<std::int64_t> free_per_node;  // by NUMA node; empty if the kernel does not say
  std::vector<std::string> mounts;          // hugetlbfs of this page size
  bool operator==(const HugepagePool&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("page_size_bytes", self.page_size...);
    visit("reserved", self.reserved...);
    visit("free", self.free...);
    visit("free_per_node", self.free_per_node...);
    visit("mounts", self.mounts...);
  }
};

// A poll-mode driver for a kind of port, as it lies in DPDK's driver folder.
struct Driver {
  std::string name;  // "net_mlx5"
  std::string file;
  bool operator==(const Driver&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("file", self.file...);
  }
};

// Whether something that the environment (EAL) needs is there.
struct Requirement {
  enum class State { met, unmet, not_known };
  std::string what;
  State state = State::not_known;
  std::string evidence;  // what was seen, and where
  bool operator==(const Requirement&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("what", self.what...);
    visit("state", self.state...);
    visit("evidence", self.evidence...);
  }
};

struct DpdkFacts {
  std::string version;                                         // "22.11.11"
  Observed<std::vector<Driver>> drivers = not_read();          // sorted by name
  Observed<std::vector<HugepagePool>> hugepages = not_read();  // by page size
  std::vector<Requirement> requirements;                       // of the environment (EAL) itself
  Requirement device_access;  // of taking a NIC from its kernel driver; mlx5 and veth need none
  // No requirement unmet or unknown: the environment could start with huge pages. It was not started.
  bool could_start = false;
  bool operator==(const DpdkFacts&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("version", self.version...);
    visit("drivers", self.drivers...);
    visit("hugepages", self.hugepages...);
    visit("requirements", self.requirements...);
    visit("device_access", self.device_access...);
    visit("could_start", self.could_start...);
  }
};

// One receive queue and one transmit queue of a port: what port::PacketPort asks for, one virtual call per
// burst. Used by one thread; release() may be called by the thread of another queue of the port instead.
class Queue {
 public:
  virtual std::size_t receive(std::span<port::ReceivedFrame> in) = 0;
  virtual void release(std::span<const port::ReceivedFrame> done) = 0;
  virtual std::size_t reserve(std::span<port::TransmitBuffer> out) = 0;
  virtual std::size_t transmit(Instant now, std::span<const port::TransmitBuffer> filled) = 0;
  virtual void discard(std::span<const port::TransmitBuffer> filled) = 0;
  virtual const port::Capabilities& capabilities() const = 0;
  virtual port::PortCounters counters() = 0;

 protected:
  ~Queue() = default;
};
static_assert(port::PacketPort<Queue>);

struct PortRequest {
  std::string eal_arguments;  // as typed behind --dpdk: blanks separate, quotes hold together
  std::string port;           // name of the port, as DPDK calls it; empty: the only one there is
  unsigned queues = 1;        // shards, each with a core of its own
  Bytes largest_frame{1518};  // without frame check sequence
  bool wants_roce = true;     // frames to UDP port 4791 must arrive: a ConnectX may keep them to itself
  bool promiscuous = false;   // frames to other stations too, where the port has a say in that
  std::string root = "/";     // where the host's files are
};

class Port {
 public:
  virtual unsigned queues() const = 0;
  virtual Queue& queue(unsigned index) = 0;
  virtual bool is_link_up() const = 0;
  // Runs body(argument, queue index) for each queue on a core of its own, the caller's core included, and
  // returns when all have returned.
  virtual void run(void (*body)(void* argument, unsigned queue), void* argument) = 0;
  // Stops the port. It cannot be used again in this process.
  virtual void close() = 0;

 protected:
  ~Port() = default;
};

class DpdkPart {
 public:
  static constexpr PartContract kContract{"dpdk", 2};
  // Reads files below `root` ("/" on a live host) and asks DPDK about its version and this CPU. Starts
  // nothing, reserves nothing, opens no device.
  virtual DpdkFacts facts(const std::string& root) = 0;
  // Starts the environment (EAL), which can be done once in a process, and the port. Errors: bad_input
  // (arguments, port name), conflict (started before), unsupported (RoCE still owns UDP port 4791; more
  // queues or larger frames than the port has; fewer cores than queues), io (what DPDK says).
  virtual Expected<Port*> open(const PortRequest& request) = 0;

 protected:
  ~DpdkPart() = default;
};

}  // namespace rocetune::dpdk

namespace rocetune {
ROCETUNE_ENUM(dpdk::Requirement::State, P{E::met, "met"}, P{E::unmet, "unmet"}, P{E::not_known, "not_known"});
}  // namespace rocetune
