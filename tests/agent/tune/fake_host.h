// A host in memory that behaves as mlx5 under the transaction and goes wrong on demand: fails a write with an
// errno, accepts and ignores, is overwritten by somebody else, keeps its link down, dies at any point. What a
// process knows dies with it; FakeKernel and FakeDisk stay.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/tune/journal.h"
#include "agent/tune/managed_host.h"

namespace rocetune::tune {

// Thrown where a process is killed. Nothing may catch it but the test.
struct Killed {
  std::string where;
};

// Counts the points at which a process can die, and kills it at one of them.
class Reaper {
 public:
  explicit Reaper(int kill_at = 0) : kill_at_(kill_at) {}
  void point(const std::string& where) {
    if (++points_ == kill_at_) throw Killed{where};
  }
  int points() const { return points_; }

 private:
  int kill_at_;
  int points_ = 0;
};

struct FakeDisk {
  std::string journal;
  std::int64_t free_bytes = 1 << 20;
  bool fails = false;  // every write: EIO
};

class FakeStorage : public JournalStorage {
 public:
  FakeStorage(FakeDisk& disk, Reaper& reaper) : disk_(disk), reaper_(reaper) {}
  Expected<std::string> read() override { return disk_.journal; }
  Expected<> write(std::int64_t offset, std::string_view bytes) override;
  Expected<> reserve(std::int64_t end) override;
  Expected<> truncate(std::int64_t end) override;

 private:
  FakeDisk& disk_;
  Reaper& reaper_;
};

// NICs with all kinds of knobs, on their own or as members of one bond, which then has their RDMA device as
// mlx5's LAG does: mlx5_bond_0 on bond0, none on the members.
struct FakeKernel {
  host::Host host;
  std::int64_t boottime_ns = 1'000'000'000;
  std::int64_t unix_ns = 1'796'000'000'000'000'000;
  int boots = 1;
  std::map<std::string, std::int64_t> tos;         // of each port's RDMA device, shown or not
  std::set<std::string> tos_directories;           // ports whose configfs directory is made
  std::set<std::string> manual_buffers;            // ports whose driver no longer sizes buffers
  std::map<std::string, std::int64_t> carrier_at;  // port -> boot time at which its link is up again
  std::int64_t bounce_ns = 300'000'000;
  std::set<std::string> stays_down;  // ports whose link does not return from a bounce

  // `bond_mode` as sysfs names it, "802.3ad", "active-backup"; empty: no bond.
  explicit FakeKernel(int ports = 2, const std::string& bond_mode = "");
  void reboot();
  // What the bonding driver does when a carrier changes. An active-backup bond does not fail back.
  void elect_members();
  bool has_carrier(const std::string& port) const;
  // All that a person could read, as one text: two states are the same if and only if these are.
  std::string state() const;
};

class FakeHost : public ManagedHost, public host::KnobWriter {
 public:
  FakeHost(FakeKernel& kernel, Reaper& reaper) : kernel_(kernel), reaper_(reaper) {}

  // ManagedHost
  Moment now() override;
  void sleep(Duration span) override;
  bool stop_requested() override { return stop; }
  Expected<host::Host> observe() override;
  Expected<host::Host> look(const std::vector<std::string>&) override { return observe(); }
  Expected<host::Host> look_at_links(const std::vector<std::string>&) override { return observe(); }
  Expected<counters::Interval> measure(Duration span) override;
  host::KnobWriter& writer() override { return *this; }

  // KnobWriter
  Expected<> write(const host::Port& port, const std::vector<host::KnobWrite>& batch) override;
  Expected<> reveal(const host::Port& port, const host::Knob& knob) override;
  Expected<> conceal(const host::Port& port, const host::Knob& knob) override;

  // Called before each knob write: an error fails it, nothing lets it pass.
  std::function<std::optional<Error>(const host::Knob&, const host::KnobValue& target)> fault;
  // Called before each observation: somebody else at work.
  std::function<void(FakeKernel&)> meanwhile;
  std::set<host::KnobKind> ignored;  // accepted without effect
  std::function<void(counters::Interval&)> traffic;
  bool stop = false;
  int writes = 0;  // single knob writes that reached the kernel
  int observations = 0;

 private:
  void set(host::Port& port, const host::KnobWrite& write);
  void set_app(host::Port& port, const std::vector<host::AppEntry>& target);
  void set_pfc(host::Port& port, const host::PfcSetting& pfc);
  void size_buffers(host::Port& port);

  FakeKernel& kernel_;
  Reaper& reaper_;
};

}  // namespace rocetune::tune
