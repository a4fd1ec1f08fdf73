#include "agent/evidence/host_tools/mlnx_qos.h"

#include <algorithm>
#include <array>
#include <bitset>

#include "agent/evidence/host_tools/class_facts.h"
#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

// Eight numbers of 0..limit behind a word: "enabled 0 0 0 1 0 0 0 0".
std::optional<std::array<int, 8>> eight_of(const std::vector<std::string_view>& words, int limit) {
  if (words.size() != 9) return std::nullopt;
  std::array<int, 8> out{};
  for (std::size_t i = 0; i < 8; ++i) {
    const auto number = small_number_of(words[i + 1]);
    if (!number || *number < 0 || *number > limit) return std::nullopt;
    out[i] = *number;
  }
  return out;
}

bool is_row_of(const std::vector<std::string_view>& words, std::string_view name) {
  return !words.empty() && words.front() == name;
}

std::optional<host::Tsa> tsa_of(std::string_view text) {
  if (text == "strict") return host::Tsa::strict;
  if (text == "ets") return host::Tsa::ets;
  if (text == "vendor") return host::Tsa::vendor;
  return std::nullopt;
}

// "prio:3 dscp:31,30,29,".
struct DscpRow {
  Priority priority;
  std::vector<Dscp> dscps;
};
std::optional<DscpRow> dscp_row_of(std::string_view text) {
  const auto words = host::words(text);
  if (words.size() < 2 || !words[0].starts_with("prio:") || !words[1].starts_with("dscp:"))
    return std::nullopt;
  const auto priority = small_number_of(words[0].substr(5));
  if (!priority || !Priority::is_valid(*priority)) return std::nullopt;
  DscpRow out{Priority(*priority), {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view list = i == 1 ? words[1].substr(5) : words[i];
    for (const std::string_view one : host::split(list, ',')) {
      const auto dscp = small_number_of(one);
      if (!dscp || !Dscp::is_valid(*dscp)) return std::nullopt;
      out.dscps.emplace_back(*dscp);
    }
  }
  return out;
}

class MlnxQosReader : public DocumentReader {
 public:
  explicit MlnxQosReader(const Context& context) {
    if (calls(context.command, "mlnx_qos")) port_.name = option_value(context.command, "-i");
    // The tool knows no other driver.
    port_.driver = "mlx5_core";
  }

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    const auto [key, value] = split_at(text, ':');
    const Verdict verdict = take_block(text, key, value);
    return verdict == Verdict::not_mine ? take_row(text) : verdict;
  }

  std::optional<Document> finish() override {
    if (!says_something_) return std::nullopt;
    if (!dscps_.empty()) {
      std::sort(dscps_.begin(), dscps_.end());
      port_.dcb.app = std::move(dscps_);
    }
    if (pfc_) {
      host::Pfc pfc;
      pfc.enabled = *pfc_;
      pfc.delay = static_cast<std::uint16_t>(cable_.value_or(0));
      port_.dcb.pfc = pfc;
    }
    take_buffers();
    // Half a table would say that the priorities of the other half are in class 0.
    if (placed_.all()) port_.dcb.ets = ets_;
    Document document;
    add_class_facts(port_.dcb, document);
    if (!placed_.all()) add_shares(document);
    document.host_part.emplace().ports.push_back(std::move(port_));
    return document;
  }

 private:
  // The line that a block begins with.
  Verdict take_block(std::string_view text, std::string_view key, std::string_view value) {
    if (key == "DCBX mode") {
      if (port_.dcb.dcbx) return Verdict::next_document;
      // mlx5/core/en_dcbnl.c: both versions always, HOST where software owns DCB.
      host::DcbxMode mode;
      mode.cee = mode.ieee = true;
      mode.host = value.starts_with("OS");
      port_.dcb.dcbx = mode;
    } else if (key == "Priority trust state" || key == "Priority trust mode") {
      if (value != "dscp" && value != "pcp") return Verdict::not_mine;
      if (port_.dcb.trust) return Verdict::next_document;
      port_.dcb.trust = value == "dscp" ? host::Trust::dscp : host::Trust::pcp;
    } else if (key == "dscp2prio mapping" || key == "PFC configuration") {
      if (key == "PFC configuration" && pfc_) return Verdict::next_document;
    } else if (key == "default priority" || key == "Cable len") {
      if (key == "Cable len") cable_ = small_number_of(value);
    } else if (key.starts_with("Receive buffer size")) {
      take_buffer_sizes(value);
    } else if (key == "tc" && text.find("ratelimit") != std::string_view::npos) {
      return take_class(value);
    } else {
      return Verdict::not_mine;
    }
    says_something_ = says_something_ || !value.empty();
    return Verdict::mine;
  }

  Verdict take_row(std::string_view text) {
    if (auto row = dscp_row_of(text)) {
      for (const Dscp dscp : row->dscps) {
        dscps_.push_back({host::AppSelector::dscp, static_cast<std::uint16_t>(dscp.value()), row->priority});
      }
      says_something_ = true;
      return Verdict::mine;
    }
    const auto words = host::words(text);
    if (is_row_of(words, "priority") && eight_of(words, 7)) return Verdict::mine;
    if (is_row_of(words, "enabled")) {
      const auto bits = eight_of(words, 1);
      if (!bits) return Verdict::not_mine;
      if (pfc_) return Verdict::next_document;
      PrioritySet set;
      for (int p = 0; p < 8; ++p) {
        if ((*bits)[static_cast<std::size_t>(p)] != 0) set = set.with(Priority(p));
      }
      pfc_ = set;
      says_something_ = true;
      return Verdict::mine;
    }
    if (is_row_of(words, "buffer")) {
      const auto buffers = eight_of(words, 7);
      if (!buffers) return Verdict::not_mine;
      buffer_of_priority_ = *buffers;
      says_something_ = true;
      return Verdict::mine;
    }
    if (words.size() == 2 && words[0] == "priority:" && class_) {
      const auto priority = small_number_of(words[1]);
      if (!priority || !Priority::is_valid(*priority)) return Verdict::not_mine;
      const auto p = static_cast<std::size_t>(*priority);
      ets_.tc_of_priority[p] = TrafficClass(*class_);
      placed_.set(p);
      return Verdict::mine;
    }
    return Verdict::not_mine;
  }

  // "3 ratelimit: unlimited, tsa: ets, bw: 50%".
  Verdict take_class(std::string_view value) {
    const auto words = host::words(value);
    const auto number = words.empty() ? std::nullopt : small_number_of(words[0]);
    if (!number || !TrafficClass::is_valid(*number)) return Verdict::not_mine;
    const auto tc = static_cast<std::size_t>(*number);
    if (classes_.test(tc)) return Verdict::next_document;
    classes_.set(tc);
    class_ = *number;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      std::string_view word = words[i + 1];
      if (words[i] == "tsa:") {
        if (word.ends_with(',')) word.remove_suffix(1);
        const auto tsa = tsa_of(word);
        if (!tsa) return Verdict::mine;
        ets_.tsa[tc] = *tsa;
      } else if (words[i] == "bw:" && word.ends_with('%')) {
        word.remove_suffix(1);
        const auto percent = small_number_of(word);
        if (percent && *percent >= 0 && *percent <= 100) {
          ets_.tx_share_percent[tc] = static_cast<std::uint8_t>(*percent);
        }
      }
    }
    says_something_ = true;
    return Verdict::mine;
  }

  // "130944,130944,0,0,0,0,0,0,max_buffer_size=262016".
  void take_buffer_sizes(std::string_view value) {
    std::size_t at = 0;
    std::array<Bytes, 8> sizes{};
    for (const std::string_view one : host::split(value, ',')) {
      const std::string_view text = trimmed(one);
      if (text.starts_with("max_buffer_size=")) {
        if (const auto total = small_number_of(text.substr(16))) total_buffer_ = Bytes(*total);
      } else if (const auto size = small_number_of(text); size && *size >= 0 && at < 8) {
        sizes[at++] = Bytes(*size);
      }
    }
    if (at == 8) buffer_sizes_ = sizes;
  }

  void take_buffers() {
    if (!buffer_sizes_ || !buffer_of_priority_) return;
    host::PortBuffers buffers;
    buffers.size = *buffer_sizes_;
    for (std::size_t p = 0; p < 8; ++p) {
      buffers.buffer_of_priority[p] = static_cast<std::uint8_t>((*buffer_of_priority_)[p]);
      buffers.total += buffers.size[p];
    }
    if (total_buffer_) buffers.total = *total_buffer_;
    port_.dcb.buffers = buffers;
  }

  // Shares of the classes of a table that is not whole.
  void add_shares(Document& document) const {
    for (std::size_t p = 0; p < 8; ++p) {
      const auto tc = static_cast<std::size_t>(ets_.tc_of_priority[p].value());
      if (!placed_.test(p) || ets_.tsa[tc] != host::Tsa::ets) continue;
      document.add_fact("ets.prio" + std::to_string(p) + "_share_pct", ets_.tx_share_percent[tc]);
    }
  }

  host::Port port_;
  std::vector<host::AppEntry> dscps_;
  std::optional<PrioritySet> pfc_;
  std::optional<int> cable_;
  std::optional<std::array<Bytes, 8>> buffer_sizes_;
  std::optional<Bytes> total_buffer_;
  std::optional<std::array<int, 8>> buffer_of_priority_;
  host::Ets ets_;
  std::bitset<8> placed_, classes_;
  std::optional<int> class_;  // the latest
  bool says_something_ = false;
};

bool begins_mlnx_qos(const Line& line, const Context&) {
  if (line.is_command) return false;
  const std::string_view text = trimmed(line.text);
  for (const std::string_view begin :
       {"DCBX mode:", "Priority trust state:", "Priority trust mode:", "dscp2prio mapping:",
        "Receive buffer size (bytes)", "PFC configuration:", "Cable len:"}) {
    if (text.starts_with(begin)) return true;
  }
  if (text.starts_with("tc:")) return text.find("ratelimit:") != std::string_view::npos;
  if (text.starts_with("enabled")) return eight_of(host::words(text), 1).has_value();
  return dscp_row_of(text).has_value();
}

}  // namespace

Format mlnx_qos_format() {
  static constexpr std::string_view kAnchors[] = {
      "DCBX mode:",          "Priority trust",     "dscp2prio mapping:",
      "Receive buffer size", "PFC configuration:", "Cable len:",
      "ratelimit:",          "enabled ",           "dscp:"};
  return {.name = "mlnx-qos",
          .anchors = kAnchors,
          .begins = begins_mlnx_qos,
          .open = open_reader<MlnxQosReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
