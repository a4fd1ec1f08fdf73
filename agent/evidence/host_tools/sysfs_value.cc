#include "agent/evidence/host_tools/sysfs_value.h"

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kGlobalClass = "Global tclass=";

// The component of a path behind `folder`: "mlx5_0" of ".../infiniband/mlx5_0/tc/1/traffic_class".
std::string_view component_after(std::string_view path, std::string_view folder) {
  const auto at = path.find(folder);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = path.substr(at + folder.size());
  return rest.substr(0, rest.find('/'));
}

// "/sys/class/net/eth0/mtu" of `cat /sys/class/net/eth0/mtu`; empty: no such command.
std::string_view path_of_cat(std::string_view command) {
  const auto words = command_words(command);
  if (words.size() != 2 || (words[0] != "cat" && words[0] != "head" && words[0] != "more")) return {};
  return words[1].starts_with("/sys/") || words[1].starts_with("sys/") ? words[1] : std::string_view();
}

struct SysfsText {
  std::string_view path, value;
};

std::string_view leaf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// What rules look at.
bool is_known_file(std::string_view path) {
  for (const std::string_view name :
       {"traffic_class", "default_roce_tos", "default_roce_mode", "mtu", "numa_node", "carrier_changes"}) {
    if (leaf(path) == name) return true;
  }
  return path.find("/ecn/roce_np/enable/") != std::string_view::npos ||
         path.find("/ecn/roce_rp/enable/") != std::string_view::npos;
}

// "/sys/class/net/eth0/mtu:1500" of grep, or "PATH = 1500", "PATH 1500".
std::optional<SysfsText> sysfs_text_of(std::string_view line, const Context& context) {
  line = trimmed(line);
  if (line.starts_with("/sys/")) {
    const auto end = line.find_first_of(":= \t", line.rfind('/'));
    // PCI addresses have colons too: the last component has none.
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view value = trimmed(line.substr(end + 1));
    while (!value.empty() && (value.front() == ':' || value.front() == '=')) value = trimmed(value.substr(1));
    if (value.empty() || !is_known_file(line.substr(0, end))) return std::nullopt;
    return SysfsText{line.substr(0, end), value};
  }
  const std::string_view path = path_of_cat(context.command);
  if (!path.empty() && is_known_file(path) && line.find(' ') == std::string_view::npos)
    return SysfsText{path, line};
  return std::nullopt;
}

class SysfsValueReader : public DocumentReader {
 public:
  explicit SysfsValueReader(const Context& context) : context_(context) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    const auto global = text.find(kGlobalClass);
    if (global != std::string_view::npos) {
      // With a path in front (grep) or alone.
      const std::string_view path = global > 0 ? text.substr(0, global) : path_of_cat(context_.command);
      return take_class(path, text.substr(global + kGlobalClass.size()));
    }
    const auto found = sysfs_text_of(text, context_);
    if (!found || (found->path == last_path_ && !line.text.starts_with("/sys/"))) return Verdict::not_mine;
    if (!take_value(found->path, found->value)) return Verdict::not_mine;
    last_path_ = found->path;
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (!says_something_) return std::nullopt;
    if (!part_.ports.empty()) document_.host_part = std::move(part_);
    return std::move(document_);
  }

 private:
  Verdict take_class(std::string_view path, std::string_view value) {
    const auto byte = small_number_of(value);
    if (!byte || *byte < 0 || *byte > 255 || class_known_) return Verdict::not_mine;
    class_known_ = true;
    note_class(*byte);
    const std::string_view device = component_after(path, "/infiniband/");
    rdma_port(device).global_traffic_class = TosByte::from_wire(static_cast<std::uint8_t>(*byte));
    return Verdict::mine;
  }

  bool take_value(std::string_view path, std::string_view value) {
    const std::string_view name = leaf(path);
    const std::string_view device = component_after(path, "/infiniband/");
    const std::string_view netdev = component_after(path, "/net/");
    const auto number = small_number_of(value);
    if (name == "traffic_class" || name == "default_roce_tos") {
      if (!number || *number < 0 || *number > 255) return false;
      const TosByte tos = TosByte::from_wire(static_cast<std::uint8_t>(*number));
      if (name == "traffic_class") {
        rdma_port(device).global_traffic_class = tos;
      } else {
        rdma_port(component_after(path, "/rdma_cm/")).cm_default_tos = tos;
      }
      note_class(*number);
    } else if (name == "mtu" && number && *number > 0) {
      net_port(netdev).mtu = Bytes(*number);
      document_.add_fact("mtu.netdev_B", *number);
    } else if (name == "numa_node" && number && *number >= 0 && !netdev.empty()) {
      net_port(netdev).numa_node = *number;
    } else if (path.find("/ecn/roce_") != std::string_view::npos && number && !netdev.empty()) {
      const auto priority = small_number_of(name);
      if (!priority || !Priority::is_valid(*priority)) return false;
      host::Port& port = net_port(netdev);
      if (!port.ecn_enable) port.ecn_enable = host::EcnEnable();
      PrioritySet& set = path.find("roce_np") != std::string_view::npos ? port.ecn_enable->notification_point
                                                                        : port.ecn_enable->reaction_point;
      if (*number != 0) set = set.with(Priority(*priority));
    } else {
      return false;
    }
    says_something_ = true;
    return true;
  }

  void note_class(int byte) {
    document_.add_fact("map.traffic_class", byte);
    document_.add_fact("map.dscp", byte >> 2);
    says_something_ = true;
  }

  host::RdmaPort& rdma_port(std::string_view device) {
    for (host::Port& port : part_.ports) {
      if (port.rdma && port.rdma->device == device) return *port.rdma;
    }
    host::RdmaPort rdma;
    rdma.device = device;
    part_.ports.emplace_back().rdma = std::move(rdma);
    return *part_.ports.back().rdma;
  }
  host::Port& net_port(std::string_view name) {
    for (host::Port& port : part_.ports) {
      if (!port.rdma && port.name == name) return port;
    }
    part_.ports.emplace_back().name = name;
    return part_.ports.back();
  }

  Context context_;
  std::string last_path_;
  bool class_known_ = false;
  bool says_something_ = false;
  host::Host part_;
  Document document_;
};

bool begins_sysfs_value(const Line& line, const Context& context) {
  if (line.is_command) return false;
  if (line.text.find(kGlobalClass) != std::string_view::npos) return true;
  return sysfs_text_of(line.text, context).has_value();
}

}  // namespace

Format sysfs_value_format() {
  return {.name = "sysfs-value",
          .anchors = {},
          .begins = begins_sysfs_value,
          .open = open_reader<SysfsValueReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
