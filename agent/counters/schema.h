// What every counter means and where each NIC keeps it: configs/counters/schema.toml and one table per NIC.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "agent/counters/model.h"
#include "dataplane/base/config_files.h"
#include "dataplane/base/error.h"

namespace rocetune::counters {

enum class Unit { packets, bytes, frames, events, microseconds, seconds, bits, percent };
enum class Direction { receive, transmit, none };
enum class Kind { counter, level };
// What a NIC's counter is summed over.
enum class Scope {
  port,      // the physical port
  function,  // this PCI function (or representor)
  bond,      // the physical port; over all members if the RDMA device stands on a bond
};

// One counter of the schema.
struct Definition {
  std::string name;
  bool per_priority = false;
  Unit unit = Unit::events;
  Direction direction = Direction::none;
  Kind kind = Kind::counter;
  std::string meaning;
};

// Where one NIC keeps one counter, or why it has none.
struct VendorCounter {
  std::string name;
  std::string absent;  // not empty: this NIC has no such counter, and this is why
  // Names by source, the first found counts; "{p}" stands for the priority.
  std::array<std::vector<std::string>, kSourceCount> names;
  int width_bits = 64;  // 32 or 64: where the vendor's value wraps
  int divide_by = 1;    // the vendor counts this many for one of ours
  Scope counts = Scope::port;
  std::string exists_when;
  std::string note;
  std::string origin;  // kernel file that shows it
};

struct VendorTable {
  std::string nic;
  std::vector<std::string> rdma_prefixes;  // tried when a name is not found as it is: "vport_"
  std::map<std::string, VendorCounter, std::less<>> rows;
};

class Schema {
 public:
  // configs/counters/*.toml. Errors: as parse, and as reading the files failed.
  static Expected<Schema> load(const ConfigFiles& configs);
  // `files`: schema.toml and any number of NIC tables. Errors: bad_input with every issue of every file, each
  // with file and line.
  static Expected<Schema> parse(const std::vector<ConfigFile>& files);

  const std::vector<Definition>& definitions() const { return definitions_; }
  // The definition, or nullptr.
  const Definition* find(std::string_view name) const;
  // The NIC's table, or nullptr: an unknown NIC.
  const VendorTable* vendor(std::string_view nic) const;
  const std::map<std::string, VendorTable, std::less<>>& vendors() const { return vendors_; }

  // Every counter once for each priority it has, in the schema's order. A counter's place in this list is its
  // slot.
  struct Slot {
    CounterId id;
    std::size_t definition;  // index into definitions()
  };
  const std::vector<Slot>& slots() const { return slots_; }

 private:
  std::vector<Definition> definitions_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::map<std::string, VendorTable, std::less<>> vendors_;
  std::vector<Slot> slots_;
};

}  // namespace rocetune::counters

namespace rocetune {
ROCETUNE_ENUM(counters::Unit, P{E::packets, "packets"}, P{E::bytes, "bytes"}, P{E::frames, "frames"},
              P{E::events, "events"}, P{E::microseconds, "microseconds"}, P{E::seconds, "seconds"},
              P{E::bits, "bits"}, P{E::percent, "percent"});
ROCETUNE_ENUM(counters::Direction, P{E::receive, "receive"}, P{E::transmit, "transmit"}, P{E::none, "none"});
ROCETUNE_ENUM(counters::Kind, P{E::counter, "counter"}, P{E::level, "level"});
ROCETUNE_ENUM(counters::Scope, P{E::port, "port"}, P{E::function, "function"}, P{E::bond, "bond"});
}  // namespace rocetune
