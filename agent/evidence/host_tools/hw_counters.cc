#include "agent/evidence/host_tools/hw_counters.h"

#include <set>
#include <utility>

#include "agent/evidence/host_tools/rdma_counter_names.h"
#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::size_t kMostHwCounters = 100000;  // of one document: 1000 functions of a hundred each

struct HwCounter {
  std::string_view device;  // empty: not said
  std::string_view name;
};

// What stands between `before` and the next '/', empty if there is none.
std::string_view component_behind(std::string_view path, std::string_view before) {
  const auto at = path.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = path.substr(at + before.size());
  return rest.substr(0, rest.find('/'));
}

// ".../infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer", or the end of it.
std::optional<HwCounter> counter_of_path(std::string_view path) {
  std::size_t folder = path.rfind("hw_counters/");
  if (folder == std::string_view::npos) folder = path.rfind("counters/");
  if (folder == std::string_view::npos || path.find(' ') != std::string_view::npos) return std::nullopt;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!is_made_of(name, "_-. ")) return std::nullopt;
  HwCounter out{component_behind(path, "/infiniband/"), name};
  if (out.device.empty() && path.starts_with("infiniband/"))
    out.device = component_behind(path, "infiniband/");
  const auto ports = path.find("/ports/");
  if (out.device.empty() && ports != std::string_view::npos) {
    const std::string_view before = path.substr(0, ports);
    out.device = before.substr(before.rfind('/') + 1);
    if (!is_made_of(out.device, "_-") || out.device == "sys") out.device = {};
  }
  return out;
}

struct HwCounterLine {
  HwCounter counter;
  std::uint64_t value = 0;
  bool is_path = false;
};

// Splits "KEY:VALUE", "KEY: VALUE", "KEY = VALUE", "KEY VALUE".
std::optional<HwCounterLine> hw_counter_line(std::string_view line) {
  line = trimmed(line);
  const auto last_blank = line.find_last_of(" \t:=");
  if (last_blank == std::string_view::npos || last_blank == 0) return std::nullopt;
  const auto value = count_of(line.substr(last_blank + 1));
  if (!value) return std::nullopt;
  std::string_view key = trimmed(line.substr(0, last_blank));
  while (!key.empty() && (key.back() == ':' || key.back() == '='))
    key = trimmed(key.substr(0, key.size() - 1));
  if (const auto of_path = counter_of_path(key)) return HwCounterLine{*of_path, *value, true};
  if (!is_made_of(key, "_") || key.size() > 60) return std::nullopt;
  return HwCounterLine{{{}, key}, *value, false};
}

// The counter that a file is named after: "hw_counters/out_of_buffer", "out_of_buffer.txt".
std::optional<HwCounter> counter_of_file(std::string_view file) {
  if (const auto of_path = counter_of_path(file); of_path && is_rdma_counter(of_path->name)) return of_path;
  std::string_view name = file.substr(file.rfind('/') + 1);
  name = name.substr(0, name.find('.'));
  if (!is_rdma_counter(name)) return std::nullopt;
  return HwCounter{{}, name};
}

// "==> /sys/.../out_of_buffer <==".
std::optional<HwCounter> counter_of_heading(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("==> ") || !line.ends_with(" <==") || line.size() < 9) return std::nullopt;
  return counter_of_file(line.substr(4, line.size() - 8));
}

class HwCountersReader : public DocumentReader {
 public:
  explicit HwCountersReader(const Context& context) : file_(context.file) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    if (auto heading = counter_of_heading(line.text)) return await(*heading);
    const std::string_view text = trimmed(line.text);
    if (const auto value = count_of(text)) {
      if (!awaited_.empty()) return add({awaited_device_, awaited_}, *value, line.number);
      const auto of_file = counter_of_file(file_);
      if (!of_file || !document_.counters.empty()) return Verdict::not_mine;
      return add(*of_file, *value, line.number);
    }
    if (is_rdma_counter(text)) return await({{}, text});
    if (const auto of_path = counter_of_path(text); of_path && is_rdma_counter(of_path->name))
      return await(*of_path);
    const auto found = hw_counter_line(text);
    if (!found) return Verdict::not_mine;
    if (!found->is_path && !is_rdma_counter(found->counter.name)) {
      // One that we do not know, between others in the same columns.
      const bool is_neighbour =
          last_line_ + 1 == line.number && found->counter.name.find('_') != std::string_view::npos;
      const char first = found->counter.name.front();
      if (!is_neighbour || first < 'a' || first > 'z' ||
          found->counter.name.find("prio") != std::string_view::npos) {
        return Verdict::not_mine;
      }
    }
    return add(found->counter, found->value, line.number);
  }

  std::optional<Document> finish() override {
    if (document_.counters.empty()) return std::nullopt;
    if (lifespan_) {
      for (host::Port& port : ports_) port.rdma->counter_lifespan_ms = *lifespan_;
    }
    if (!ports_.empty()) document_.host_part.emplace().ports = std::move(ports_);
    return std::move(document_);
  }

 private:
  Verdict await(const HwCounter& counter) {
    awaited_device_ = counter.device;
    awaited_ = counter.name;
    return Verdict::mine;
  }

  Verdict add(const HwCounter& counter, std::uint64_t value, int number) {
    if (document_.counters.size() >= kMostHwCounters) return Verdict::not_mine;
    const std::string device(counter.device), name(counter.name);
    if (!seen_.insert({device, name}).second) return Verdict::next_document;  // the next snapshot
    awaited_.clear();
    last_line_ = number;
    if (!device.empty()) note_device(device);
    if (name == "lifespan") {
      if (value <= 10000) lifespan_ = static_cast<std::int64_t>(value);
      return Verdict::mine;
    }
    document_.counters.push_back({device, name, value, number});
    return Verdict::mine;
  }

  void note_device(const std::string& device) {
    if (!ports_.empty() && ports_.back().rdma->device == device) return;
    for (const host::Port& port : ports_) {
      if (port.rdma->device == device) return;
    }
    host::RdmaPort rdma;
    rdma.device = device;
    ports_.emplace_back().rdma = std::move(rdma);
  }

  std::string file_;
  std::string awaited_device_, awaited_;
  int last_line_ = -1;
  std::set<std::pair<std::string, std::string>> seen_;
  std::vector<host::Port> ports_;
  std::optional<std::int64_t> lifespan_;
  Document document_;
};

bool begins_hw_counters(const Line& line, const Context& context) {
  if (line.is_command) return false;
  const std::string_view text = trimmed(line.text);
  if (text.empty()) return false;
  if (text.front() >= '0' && text.front() <= '9') {
    return count_of(text).has_value() && line.number <= 2 && counter_of_file(context.file).has_value();
  }
  if (text.starts_with("==> ")) return counter_of_heading(text).has_value();
  if (is_rdma_counter(text)) return true;
  const auto found = hw_counter_line(text);
  return found &&
         (is_rdma_counter(found->counter.name) || text.find("hw_counters/") != std::string_view::npos);
}

}  // namespace

Format hw_counters_format() {
  // No anchors: a file of one counter is a number alone. What begins is told apart by its first character.
  return {.name = "hw-counters",
          .anchors = {},
          .begins = begins_hw_counters,
          .open = open_reader<HwCountersReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
