#include "agent/evidence/host_tools/ip_link.h"

#include <boost/json.hpp>

#include <algorithm>

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::size_t kMostInterfaces = 10000;  // of one document

// The words behind which `ip` and `ifconfig` put a value.
std::string_view ip_value(const std::vector<std::string_view>& words, std::string_view key) {
  const auto at = std::find(words.begin(), words.end(), key);
  return at == words.end() || at + 1 == words.end() ? std::string_view() : *(at + 1);
}

bool has_flag(std::string_view flags, std::string_view flag) {
  for (const std::string_view one : host::split(flags, ',')) {
    if (one == flag) return true;
  }
  return false;
}

struct InterfaceText {
  int index = 0;
  std::string_view name, flags, master;
  std::int64_t mtu = 0;
};

// "3: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq ..."; "eth0.100@eth0" is a VLAN of eth0.
std::optional<InterfaceText> ip_interface_of(std::string_view line) {
  const auto words = host::words(line);
  if (words.size() < 3) return std::nullopt;
  InterfaceText out;
  std::size_t at = 0;
  if (words[0].ends_with(':') && count_of(words[0].substr(0, words[0].size() - 1))) {
    out.index = small_number_of(words[0].substr(0, words[0].size() - 1)).value_or(0);
    at = 1;
  }
  if (at + 2 > words.size() || !words[at].ends_with(':')) return std::nullopt;
  out.name = words[at].substr(0, words[at].size() - 1);
  std::string_view flags = words[at + 1];
  if (at == 0) {  // ifconfig: "eth0: flags=4163<UP,BROADCAST,RUNNING>  mtu 1500"
    const auto open = flags.find('<');
    if (!flags.starts_with("flags=") || open == std::string_view::npos) return std::nullopt;
    flags.remove_prefix(open);
  }
  if (!flags.starts_with('<') || !flags.ends_with('>')) return std::nullopt;
  out.flags = flags.substr(1, flags.size() - 2);
  const auto mtu = small_number_of(ip_value(words, "mtu"));
  if (!mtu || *mtu < 0) return std::nullopt;
  out.mtu = *mtu;
  out.master = ip_value(words, "master");
  return out;
}

host::Port port_of_interface(const InterfaceText& text) {
  host::Port port;
  port.name = text.name.substr(0, text.name.find('@'));
  port.ifindex = text.index;
  port.mtu = Bytes(text.mtu);
  if (!text.master.empty()) port.bond = std::string(text.master);
  if (has_flag(text.flags, "MASTER")) port.role = host::PortRole::bond;
  host::Link link;
  link.admin_up = has_flag(text.flags, "UP");
  link.carrier = has_flag(text.flags, "LOWER_UP") || has_flag(text.flags, "RUNNING");
  port.link = link;
  return port;
}

class IpLinkReader : public DocumentReader {
 public:
  explicit IpLinkReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    if (const auto found = ip_interface_of(line.text)) {
      const std::string_view name = found->name.substr(0, found->name.find('@'));
      const auto known = [&](const host::Port& port) { return port.name == name; };
      if (std::any_of(ports_.begin(), ports_.end(), known)) return Verdict::next_document;  // of another host
      if (ports_.size() >= kMostInterfaces) return Verdict::not_mine;
      loopback_ = has_flag(found->flags, "LOOPBACK");
      ports_.push_back(port_of_interface(*found));
      if (!loopback_) note_mtu(found->mtu);
      return Verdict::mine;
    }
    if (ports_.empty()) return Verdict::not_mine;
    const auto words = host::words(line.text);
    return take_detail(words) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    std::erase_if(ports_, [](const host::Port& port) { return port.name == "lo"; });
    Document document;
    if (same_mtu_ && mtu_) document.add_fact("mtu.netdev_B", static_cast<double>(*mtu_));
    document.host_part.emplace().ports = std::move(ports_);
    return document;
  }

 private:
  // The lines below an interface.
  bool take_detail(const std::vector<std::string_view>& words) {
    if (words.size() < 2) return false;
    host::Port& port = ports_.back();
    if (words[0] == "link/ether" || words[0] == "ether") {
      port.mac = std::string(words[1]);
      return true;
    }
    if (words[0] == "inet" || words[0] == "inet6") {
      port.addresses.emplace_back(words[1]);
      return true;
    }
    if (words[0].starts_with("link/") || words[0] == "valid_lft" || words[0] == "altname") return true;
    if (words[0] == "vf" || words[0] == "RX:" || words[0] == "TX:") return true;
    if (words[0] == "RX" || words[0] == "TX") return words[1] == "packets" || words[1] == "errors";
    return words[0] == "device" && words[1] == "memory";
  }

  void note_mtu(std::int64_t mtu) {
    if (mtu_ && *mtu_ != mtu) same_mtu_ = false;
    mtu_ = mtu;
  }

  std::vector<host::Port> ports_;
  std::optional<std::int64_t> mtu_;
  bool same_mtu_ = true;
  bool loopback_ = false;
};

bool begins_ip_link(const Line& line, const Context&) {
  return !line.is_command && ip_interface_of(line.text).has_value();
}

// [{"ifindex": 2, "ifname": "eth0", "flags": ["UP"], "mtu": 1500, ...}]
std::optional<Document> ip_link_from_json(const boost::json::value& json, const Context&) {
  const boost::json::array* list = json.if_array();
  if (list == nullptr || list->empty()) return std::nullopt;
  Document document;
  std::vector<host::Port> ports;
  std::optional<std::int64_t> common;
  bool same = true;
  for (const boost::json::value& element : *list) {
    const boost::json::object* object = element.if_object();
    if (object == nullptr) return std::nullopt;
    if (object->empty()) continue;  // what -f leaves of those that it does not show
    const boost::json::value* name = object->if_contains("ifname");
    const boost::json::value* mtu = object->if_contains("mtu");
    const boost::json::value* flags = object->if_contains("flags");
    if (name == nullptr || !name->is_string() || mtu == nullptr || !mtu->is_int64() || mtu->get_int64() < 0 ||
        mtu->get_int64() > INT32_MAX || flags == nullptr || !flags->is_array()) {
      return std::nullopt;
    }
    std::string words;
    for (const boost::json::value& flag : flags->get_array()) {
      if (flag.is_string()) words += (words.empty() ? "" : ",") + std::string(flag.get_string());
    }
    InterfaceText text{0, std::string_view(name->get_string()), words, {}, mtu->get_int64()};
    if (const boost::json::value* master = object->if_contains("master");
        master != nullptr && master->is_string()) {
      text.master = std::string_view(master->get_string());
    }
    if (has_flag(words, "LOOPBACK")) continue;
    host::Port port = port_of_interface(text);
    if (const boost::json::value* mac = object->if_contains("address"); mac != nullptr && mac->is_string()) {
      port.mac = std::string(mac->get_string());
    }
    if (common && *common != text.mtu) same = false;
    common = text.mtu;
    ports.push_back(std::move(port));
  }
  if (ports.empty()) return std::nullopt;
  if (same) document.add_fact("mtu.netdev_B", static_cast<double>(*common));
  document.host_part.emplace().ports = std::move(ports);
  return document;
}

}  // namespace

Format ip_link_format() {
  static constexpr std::string_view kAnchors[] = {"> mtu ", ">  mtu "};
  return {.name = "ip-link",
          .anchors = kAnchors,
          .begins = begins_ip_link,
          .open = open_reader<IpLinkReader>,
          .from_json = ip_link_from_json};
}

}  // namespace rocetune::evidence
