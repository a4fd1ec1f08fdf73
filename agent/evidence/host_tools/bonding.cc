#include "agent/evidence/host_tools/bonding.h"

#include "agent/evidence/host_tools/words.h"
#include "agent/host/bonding.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kBondingTitle = "Ethernet Channel Bonding Driver:";
constexpr std::size_t kLongestBond = 1 << 20;  // bytes of one document

// The bond's name: behind the folder in the command or file name, else in the file name, "bond0.txt".
std::string bond_name(const Context& context) {
  const std::string_view command = context.command;
  constexpr std::string_view kFolder = "/proc/net/bonding/";
  if (const auto at = command.find(kFolder); at != std::string_view::npos) {
    const std::string_view rest = command.substr(at + kFolder.size());
    return std::string(rest.substr(0, rest.find_first_of(" \t|;")));
  }
  std::string_view file = context.file;
  file = file.substr(file.rfind('/') + 1);
  file = file.substr(0, file.find('.'));
  return file.starts_with("bond") && file != "bonding" && file != "bond" ? std::string(file) : "bond";
}

class BondingReader : public DocumentReader {
 public:
  explicit BondingReader(const Context& context) : name_(bond_name(context)) {}

  Verdict take(const Line& line) override {
    if (line.is_command || (in_text_ && line.text.empty())) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (text.starts_with(kBondingTitle)) {
      if (in_text_) return Verdict::next_document;
      in_text_ = true;
      return Verdict::mine;
    }
    const auto [key, value] = split_at(text, ':');
    if (text_.size() > kLongestBond || !is_bonding_line(text, key)) return Verdict::not_mine;
    text_ += text;
    text_ += '\n';
    read_line(key, value, line.number);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    auto bond = host::parse_bond(name_, text_);
    if (!bond) return std::nullopt;
    content_.bond = std::move(*bond);
    Document document;
    document.add_fact("lag.members", static_cast<double>(content_.members.size()));
    if (content_.active_ports) document.add_fact("lag.active_ports", *content_.active_ports);
    host::Host part;
    for (const BondMember& member : content_.members) {
      host::Port port;
      port.name = member.name;
      port.bond = name_;
      part.ports.push_back(std::move(port));
    }
    part.bonds.push_back(content_.bond);
    document.host_part = std::move(part);
    document.content = std::move(content_);
    return document;
  }

 private:
  // Lines of bond_procfs.c: "Key: value", and titles without a colon.
  static bool is_bonding_line(std::string_view text, std::string_view key) {
    if (text == "802.3ad info" || text == "Active Aggregator Info:") return true;
    if (text.starts_with("details ") && text.ends_with("lacp pdu:")) return true;
    for (const std::string_view known : {"Bonding Mode",
                                         "Primary Slave",
                                         "Currently Active Slave",
                                         "MII Status",
                                         "MII Polling Interval (ms)",
                                         "Up Delay (ms)",
                                         "Down Delay (ms)",
                                         "Peer Notification Delay (ms)",
                                         "ARP Polling Interval (ms)",
                                         "ARP IP target/s (n.n.n.n form)",
                                         "ARP Missed Max",
                                         "Transmit Hash Policy",
                                         "LACP rate",
                                         "LACP active",
                                         "Min links",
                                         "Aggregator selection policy (ad_select)",
                                         "System priority",
                                         "System MAC address",
                                         "Aggregator ID",
                                         "Number of ports",
                                         "Actor Key",
                                         "Partner Key",
                                         "Partner Mac Address",
                                         "Slave Interface",
                                         "Speed",
                                         "Duplex",
                                         "Link Failure Count",
                                         "Permanent HW addr",
                                         "Slave queue ID",
                                         "Actor Churn State",
                                         "Partner Churn State",
                                         "Actor Churned Count",
                                         "Partner Churned Count",
                                         "system priority",
                                         "system mac address",
                                         "port key",
                                         "port priority",
                                         "port number",
                                         "port state",
                                         "oper key"}) {
      if (key == known) return true;
    }
    return false;
  }

  void read_line(std::string_view key, std::string_view value, int number) {
    if (key == "Slave Interface") {
      content_.members.push_back({std::string(value), number, false, {}, {}, {}, {}, {}});
    } else if (content_.members.empty()) {
      if (key == "Number of ports") content_.active_ports = small_number_of(value);
      if (key == "Partner Mac Address") content_.partner_line = number;
    } else {
      BondMember& member = content_.members.back();
      if (key == "MII Status") member.is_up = value == "up";
      if (key == "Aggregator ID") member.aggregator = std::string(value);
      if (key == "Actor Churn State") member.actor_churn = std::string(value);
      if (key == "Partner Churn State") member.partner_churn = std::string(value);
      if (key == "Speed") member.speed_mbps = small_number_of(value.substr(0, value.find(' ')));
      if (key == "Link Failure Count") member.link_failures = small_number_of(value);
    }
  }

  std::string name_;
  bool in_text_ = false;
  std::string text_;
  BondText content_;
};

bool begins_bonding(const Line& line, const Context&) {
  const std::string_view text = trimmed(line.text);
  if (line.is_command) return false;
  return text.starts_with(kBondingTitle) || text.starts_with("Bonding Mode: ");
}

}  // namespace

Format bonding_format() {
  static constexpr std::string_view kAnchors[] = {kBondingTitle, "Bonding Mode: "};
  return {.name = "bonding",
          .anchors = kAnchors,
          .begins = begins_bonding,
          .open = open_reader<BondingReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
