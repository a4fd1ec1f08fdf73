#include "agent/evidence/rdma_tools/lspci.h"

#include <algorithm>
#include <array>
#include <set>

#include "agent/evidence/rdma_tools/scan.h"
#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace lspci_text {
namespace {

constexpr std::size_t kMostFunctions = 16384;

constexpr std::array<std::string_view, 18> kAnchors{
    "LnkCap:", "LnkSta:", "ACSCtl:", "DevCtl:", "MaxReadReq", "ATSCtl:", "RlxdOrd", "-[0000:", "0.0",
    "1.0",     ".0 ",     ".1 ",     ".2 ",     ".3 ",        ".4 ",     ".5 ",     ".6 ",     ".7 "};
constexpr std::array<std::string_view, 7> kFields{
    "LnkCap:", "LnkSta:", "ACSCtl:", "ACSCap:", "DevCtl:", "DevCap:", "ATSCtl:"};

// The length of "0000:19:00.0" or "19:00.0" at the beginning of a text; 0 if none is there.
std::size_t address_length(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&](std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (at < text.size() && count < most && is_hex_digit(text[at])) ++at, ++count;
    return count >= least;
  };
  std::size_t first = 0;
  while (first < text.size() && first < 9 && is_hex_digit(text[first])) ++first;
  if (first >= 4) {
    if (first > 8 || first >= text.size() || text[first] != ':') return 0;
    at = first + 1;
  }
  if (!digits(2, 2) || at >= text.size() || text[at++] != ':') return 0;
  if (!digits(2, 2) || at >= text.size() || text[at++] != '.') return 0;
  if (at >= text.size() || text[at] < '0' || text[at] > '7') return 0;
  ++at;
  if (at < text.size() && text[at] != ' ' && text[at] != '\t') return 0;
  return at;
}

bool has_field(std::string_view text) {
  return std::any_of(kFields.begin(), kFields.end(),
                     [&](std::string_view field) { return text.starts_with(field); });
}

// What stands behind an address in a device line: "Ethernet controller: ...", "0200: 15b3:1017", a quoted
// class of -mm, or a field that a script put on the same line.
bool is_description(std::string_view text) {
  if (text.empty() || has_field(text) || text.starts_with('"')) return true;
  const auto colon = text.find(": ");
  if (colon > 60) return false;
  const std::string_view kind = text.substr(0, colon);
  if (kind.size() == 4 && std::all_of(kind.begin(), kind.end(), is_hex_digit)) return true;
  static constexpr std::array<std::string_view, 12> kKinds{
      "ontroller",  "ridge", "eripheral", "ccelerator", "evice",  "nterface",
      "oprocessor", "SMBus", "memory",    "NVMe",       "System", "class"};
  return std::any_of(kKinds.begin(), kKinds.end(),
                     [&](std::string_view word) { return kind.find(word) != std::string_view::npos; });
}

bool is_tree(std::string_view text) {
  if (text.starts_with("-[") || text.starts_with("+-[") || text.starts_with("\\-[")) return true;
  const auto branch = text.find_first_not_of(" |");
  return branch != std::string_view::npos &&
         (text.substr(branch).starts_with("+-") || text.substr(branch).starts_with("\\-"));
}

bool begins(const Line& line, const Context&) {
  const std::string_view text = trimmed(line.text);
  if (const std::size_t length = address_length(text); length > 0) {
    return is_description(trimmed(text.substr(length)));
  }
  if (text.starts_with("-[0000:")) return true;
  if (text.starts_with("LnkCap:") || text.starts_with("LnkSta:")) {
    return text.find("Width") != std::string_view::npos || text.find("Speed") != std::string_view::npos;
  }
  if (text.starts_with("ACSCtl:")) return text.find("SrcValid") != std::string_view::npos;
  if (text.starts_with("ATSCtl:")) return text.find("Enable") != std::string_view::npos;
  if (text.starts_with("DevCtl:"))
    return text.find("Err") != std::string_view::npos || text.find("err") != std::string_view::npos;
  return text.starts_with("RlxdOrd") ||
         (text.starts_with("MaxPayload ") && text.find("MaxReadReq ") != std::string_view::npos);
}

// The number behind a word: of "Speed 8GT/s, Width x8" the 8 behind "Width x".
template <class Number>
std::optional<Number> number_behind(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  return leading_number<Number>(text.substr(at + word.size()));
}

// "ReqRedir+" -> true, "ReqRedir-" -> false.
std::optional<bool> flag(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == std::string_view::npos || at + name.size() >= text.size()) return std::nullopt;
  const char sign = text[at + name.size()];
  if (sign != '+' && sign != '-') return std::nullopt;
  return sign == '+';
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (text.empty()) return Verdict::not_mine;
    if (const std::size_t length = address_length(text);
        length > 0 && is_description(trimmed(text.substr(length)))) {
      if (prompts_.is_other_host()) return Verdict::next_document;
      begin_function(text.substr(0, length), trimmed(text.substr(length)), line.number);
      return mine(line.number);
    }
    if (is_tree(text) && (text.starts_with("-[") || in_tree_)) {
      in_tree_ = true;
      return mine(line.number);
    }
    if (take_field(text, line.number)) return mine(line.number);
    // Rows of -v that nothing is taken from, as long as they follow without a gap.
    const bool indented = line.text.starts_with('\t') || line.text.starts_with("    ");
    if (indented && line.number == last_line_ + 1 && named_) return mine(line.number);
    return Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (listing_.functions.empty() && !in_tree_) return std::nullopt;
    Document document;
    add_facts(document);
    document.host_part = host_of();
    listing_.is_whole = named_ || in_tree_;
    document.content = std::move(listing_);
    return document;
  }

 private:
  Verdict mine(int number) {
    last_line_ = number;
    return Verdict::mine;
  }

  void begin_function(std::string_view address, std::string_view text, int line) {
    if (listing_.functions.size() >= kMostFunctions) return;
    PciFunction& f = listing_.functions.emplace_back();
    f.address = address;
    f.line = line;
    named_ = true;
    if (has_field(text)) {
      take_field(text, line);
      return;
    }
    f.text = text.substr(0, 200);
    const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    const auto is_class = [&](std::string_view code) {
      return text.starts_with(code) || has("[" + std::string(code) + "]");
    };
    f.is_network = has("Ethernet controller") || has("nfiniband controller") ||
                   has("InfiniBand controller") || has("Network controller") || is_class("0200") ||
                   is_class("0207") || is_class("0280");
    f.is_gpu =
        has("3D controller") || is_class("0302") || is_class("1200") || has("Processing accelerators") ||
        ((has("VGA compatible") || has("Display controller") || is_class("0300") || is_class("0380")) &&
         (has("NVIDIA") || has("AMD/ATI") || has("10de:") || has("1002:")));
    f.is_bridge = has("PCI bridge") || is_class("0604");
    f.id = id_in(text);
    f.is_virtual_function = has("Virtual Function") || is_virtual_function_id(f.id);
    f.is_emulated = has("QEMU") || has("Virtio") || has("VMware") || has("Hyper-V") || has("Red Hat, Inc.") ||
                    is_emulated_id(f.id);
  }

  // "15b3:101e" of -n ("0200: 15b3:101e (rev 01)") and -nn ("... [15b3:101e]").
  static std::string id_in(std::string_view text) {
    for (std::size_t at = 0; at + 9 <= text.size(); ++at) {
      if (text[at + 4] != ':') continue;
      const std::string_view word = text.substr(at, 9);
      const bool before = at > 0 && (text[at - 1] == '[' || text[at - 1] == ' ');
      const bool behind = at + 9 == text.size() || text[at + 9] == ']' || text[at + 9] == ' ';
      if (before && behind && std::all_of(word.begin(), word.begin() + 4, is_hex_digit) &&
          std::all_of(word.begin() + 5, word.end(), is_hex_digit)) {
        return std::string(word);
      }
    }
    return {};
  }

  // The function that a field belongs to: another one where it stands for the second time without an address.
  template <class Member>
  PciFunction& function_for(Member member, int line) {
    if (listing_.functions.empty() ||
        (listing_.functions.back().address.empty() && member(listing_.functions.back()))) {
      if (listing_.functions.size() < kMostFunctions) {
        listing_.functions.emplace_back().line = line;
      }
    }
    return listing_.functions.back();
  }

  bool take_field(std::string_view text, int line) {
    if (text.starts_with("LnkCap:")) {
      PciFunction& f =
          function_for([](const PciFunction& p) { return p.max_width_lanes || p.width_lanes; }, line);
      f.max_width_lanes = number_behind<int>(text, "Width x");
      f.max_speed_gt_per_s = number_behind<double>(text, "Speed ");
    } else if (text.starts_with("LnkSta:")) {
      PciFunction& f = function_for([](const PciFunction& p) { return p.width_lanes.has_value(); }, line);
      f.width_lanes = number_behind<int>(text, "Width x");
      f.speed_gt_per_s = number_behind<double>(text, "Speed ");
      f.speed_unknown = text.find("Speed unknown") != std::string_view::npos;
      f.width_line = line;
    } else if (text.starts_with("ACSCtl:")) {
      PciFunction& f = function_for([](const PciFunction& p) { return p.acs_redirects.has_value(); }, line);
      const auto request = flag(text, "ReqRedir"), completion = flag(text, "CmpltRedir"),
                 upstream = flag(text, "UpstreamFwd");
      if (request || completion || upstream) {
        f.acs_redirects = request.value_or(false) || completion.value_or(false) || upstream.value_or(false);
      }
      f.acs_validates = flag(text, "SrcValid");
      f.acs_line = line;
    } else if (text.starts_with("ATSCtl:")) {
      function_for([](const PciFunction& p) { return p.ats_enabled.has_value(); }, line).ats_enabled =
          flag(text, "Enable");
    } else if (text.starts_with("NUMA node:")) {
      if (listing_.functions.empty()) return false;
      listing_.functions.back().numa_node = number_behind<int>(text, "NUMA node:");
    } else if (text.starts_with("Kernel driver in use:")) {
      if (listing_.functions.empty()) return false;
      listing_.functions.back().driver = trimmed(text.substr(21));
    } else {
      return take_control(text, line);
    }
    return true;
  }

  // What grep for "Lnk", "Dev" or "ACS" gives beside.
  static bool is_other_field(std::string_view text) {
    static constexpr std::array<std::string_view, 9> kOthers{
        "LnkCap2:", "LnkSta2:", "LnkCtl:", "LnkCtl2:", "DevCap:",
        "DevSta:",  "DevCtl2:", "ACSCap:", "ATSCap:"};
    return std::any_of(kOthers.begin(), kOthers.end(),
                       [&](std::string_view field) { return text.starts_with(field); });
  }

  // DevCtl and the rows under it.
  bool take_control(std::string_view text, int line) {
    const auto request = number_behind<int>(text, "MaxReadReq ");
    const auto ordering = flag(text, "RlxdOrd");
    const bool begins_control = text.starts_with("DevCtl:");
    if (!begins_control && !request && !ordering) return is_other_field(text);
    if (begins_control && listing_.functions.empty()) listing_.functions.emplace_back().line = line;
    if (ordering) {
      PciFunction& f =
          function_for([](const PciFunction& p) { return p.relaxed_ordering.has_value(); }, line);
      f.relaxed_ordering = ordering;
      f.ordering_line = line;
    }
    if (request && *request >= 128 && *request <= 4096) {
      PciFunction& f =
          function_for([](const PciFunction& p) { return p.max_read_request.has_value(); }, line);
      f.max_read_request = Bytes(*request);
      f.request_line = line;
      if (const auto payload = number_behind<int>(text, "MaxPayload "); payload && *payload >= 128)
        f.max_payload = Bytes(*payload);
    }
    return true;
  }

  void add_facts(Document& document) const {
    int redirecting = 0, controls = 0;
    std::set<int> widths, network_widths;
    for (const PciFunction& f : listing_.functions) {
      if (f.acs_redirects) {
        ++controls;
        redirecting += *f.acs_redirects ? 1 : 0;
      }
      if (!f.width_lanes) continue;
      widths.insert(*f.width_lanes);
      if (f.is_network) network_widths.insert(*f.width_lanes);
    }
    if (controls > 0) document.add_fact("acs.redirect_ports", redirecting);
    // Of several the NIC's, if they agree.
    if (widths.size() > 1) widths = network_widths;
    if (widths.size() == 1) document.add_fact("pcie.width", *widths.begin());
  }

  // The one NIC that a text is about, as a port without a name; GPUs.
  std::optional<host::Host> host_of() const {
    host::Host host;
    const PciFunction* nic = nullptr;
    int nics = 0;
    std::vector<host::Gpu> gpus;
    for (const PciFunction& f : listing_.functions) {
      if (f.is_network) {
        nic = &f;
        ++nics;
      }
      if (f.is_gpu) gpus.push_back({f.address, f.text, f.numa_node});
    }
    if (!gpus.empty()) host.gpus = std::move(gpus);
    if (nics == 1 && nic->width_lanes.value_or(0) > 0) host.ports.push_back(port_of(*nic));
    if (host.ports.empty() && !host.gpus) return std::nullopt;
    return host;
  }

  static host::Port port_of(const PciFunction& f) {
    host::Port port;
    port.pci_address = f.address.size() == 7 ? "0000:" + f.address : f.address;
    if (!f.id.empty()) port.pci_id = f.id;
    port.driver = f.driver;
    port.numa_node = f.numa_node;
    if (f.is_virtual_function) port.role = host::PortRole::virtual_function;
    host::PcieLink pcie;
    pcie.width_lanes = f.width_lanes;
    pcie.max_width_lanes = f.max_width_lanes;
    pcie.speed_gt_per_s = f.speed_gt_per_s;
    pcie.max_speed_gt_per_s = f.max_speed_gt_per_s;
    if (f.max_read_request) pcie.max_read_request = *f.max_read_request;
    if (f.max_payload) pcie.max_payload = *f.max_payload;
    if (f.relaxed_ordering) pcie.relaxed_ordering = *f.relaxed_ordering;
    port.pcie = pcie;
    return port;
  }

  PciListing listing_;
  PromptWatch prompts_;
  int last_line_ = 0;
  bool named_ = false;
  bool in_tree_ = false;
};

}  // namespace
}  // namespace lspci_text

Format lspci_format() {
  return {.name = "lspci",
          .anchors = lspci_text::kAnchors,
          .begins = lspci_text::begins,
          .open = open_reader<lspci_text::Reader>};
}

}  // namespace rocetune::evidence
