// What was understood of a pasted text: one document is the output of one tool (or a log), with the numbers,
// settings and places that rules judge. Absent is not zero: what the text does not say is not here.
#pragma once

#include <any>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/model.h"
#include "congestion/units.h"

namespace rocetune::evidence {

// "before", "after60s", "before-2to1", "t1" in a file's name: when its content was taken.
struct Phase {
  enum class Kind { before, after, at };
  Kind kind = Kind::before;
  std::string text;                 // as it stands there
  int ordinal = 0;                  // of `at`: 0 for "t0"
  std::string run;                  // "2to1": another run than the one without a name
  std::optional<Duration> elapsed;  // "after60s"; negative: a second before the end
  bool operator==(const Phase&) const = default;
};

// A counter as printed. `device` is empty where the text names none: "mlx5_0/1", "eth0", "Ethernet4".
struct Counter {
  std::string device;
  std::string name;
  std::uint64_t value = 0;
  int line = 0;
};

// A number of the list of facts (docs/inputs.md), without "@file".
struct Fact {
  std::string name;
  double value = 0;
};

struct Document {
  std::string format;  // a name of docs/inputs.md
  std::string file;    // relative to the folder that was given; the file itself if one was given
  int first_line = 0;  // from 1; 0: the whole file
  int last_line = 0;
  std::optional<std::string> host;  // named by prompt, log prefix or file name
  std::optional<Phase> phase;
  std::string series;   // file name without phase: what two phases of one thing have in common
  std::string command;  // behind the prompt in front, if there was one: "ethtool -S eth0"

  std::vector<Counter> counters;
  std::vector<Fact> facts;
  // What it says of a host, in the words of the model: a port with only its name, PFC and trust, say. A port
  // without a name is the one that the file is about.
  std::optional<host::Host> host_part;
  // What rules about this format look at: the value type that its reader's header declares.
  std::any content;

  // nullptr: another format.
  template <class T>
  const T* as() const {
    return std::any_cast<T>(&content);
  }
  // "nccl.log:12" for evidence.
  std::string place(int line) const { return line > 0 ? file + ":" + std::to_string(line) : file; }
  // The counter of that name, of any device if none is given; nullptr: not printed.
  const Counter* find_counter(std::string_view name, std::string_view device = {}) const;
  void add_fact(std::string name, double value) { facts.push_back({std::move(name), value}); }
};

}  // namespace rocetune::evidence
