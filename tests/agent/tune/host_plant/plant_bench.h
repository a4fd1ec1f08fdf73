// A host of the fixtures behind fake_rocetune.py, and a plant over one or two of them: what these tests
// share.
#pragma once

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "agent/host/host_reader.h"
#include "agent/tune/host_plant/host_plant.h"
#include "agent/tune/planner.h"
#include "dataplane/base/file.h"
#include "dataplane/base/json_reader.h"
#include "tests/places.h"

namespace rocetune::tune {

inline const host::NicTable& nic_table() {
  static const host::NicTable table = *host::NicTable::load(ConfigFiles());
  return table;
}
inline host::Host fixture_host(const std::string& tree = "mlx5", const std::string& name = "") {
  auto host = host::read_host({.root = source_root() + "/tests/fixtures/hosts/" + tree}, nic_table());
  EXPECT_TRUE(host) << (host ? "" : host.error().text());
  if (!name.empty()) host->name = name;
  return *host;
}
inline Limits guardrails() { return *load_limits(ConfigFiles(), nic_table()); }

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "rocetune-host-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// One host that can be changed.
class FakeMachine {
 public:
  explicit FakeMachine(host::Host host) : host_(std::move(host)) { put("host.json", to_json_text(host_)); }

  const host::Host& host() const { return host_; }
  std::string folder() const { return folder_.path(); }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name)) << text;
  }
  // "apply": {"", "refuse"}: the second one is refused.
  void go_wrong(const std::string& json) const { put("faults.json", json); }

  HostControl control() const {
    HostAddress address;
    address.name = host_.name;
    address.rocetune = source_root() + "/tests/agent/tune/host_plant/fake_rocetune.py";
    address.options = {"--root", folder()};
    address.journal_options = {"--state-dir", folder()};
    return HostControl(address);
  }
  // Knobs that differ from the start, and transactions that have not ended.
  std::size_t changed() const {
    const auto book = json("book.json");
    return book ? json_member(*book, "settings")->as_object().size() : 0;
  }
  std::size_t open() const {
    std::size_t out = 0;
    const auto book = json("book.json");
    if (!book) return 0;
    for (const Json& one : json_member(*book, "transactions")->as_array())
      out += json_member(one, "phase")->as_string() != "ended" ? 1 : 0;
    return out;
  }
  std::size_t transactions() const {
    const auto book = json("book.json");
    return book ? json_member(*book, "transactions")->as_array().size() : 0;
  }
  bool is_as_before() const { return changed() == 0 && open() == 0; }

 private:
  std::optional<Json> json(const std::string& name) const {
    const auto text = read_file(folder_.file(name));
    if (!text) return std::nullopt;
    return *parse_json(*text, name);
  }
  host::Host host_;
  TemporaryFolder folder_;
};

inline FoundHost found(const host::Host& host, std::vector<diagnose::Finding> findings = {}) {
  std::vector<std::string> remarks;
  return {host, *chosen_ports(host, {}, nic_table(), remarks), std::move(findings)};
}

// A workload that prints 90 Gb/s while `knob` is in force on the machine, else 60.
inline std::string workload_that_likes(const FakeMachine& machine, const std::string& knob) {
  return "if grep -sqx '" + knob + "' " + shell_word(machine.folder() + "/in_force") +
         "; then echo busbw 90; else echo busbw 60; fi";
}

}  // namespace rocetune::tune
