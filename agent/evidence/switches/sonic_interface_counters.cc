#include "agent/evidence/switches/sonic_interface_counters.h"

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

bool is_interface_head(std::string_view text) {
  const auto words = host::words(text);
  if (words.size() < 5 || (words[0] != "IFACE" && words[0] != "Iface")) return false;
  return text.find("RX_OK") != std::string_view::npos || text.find("TX_OK") != std::string_view::npos;
}

class SonicInterfaceCountersReader : public DocumentReader {
 public:
  explicit SonicInterfaceCountersReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    if (is_interface_head(line.text)) {
      if (columns_) return Verdict::next_document;
      columns_.emplace(host::words(line.text));
      return Verdict::mine;
    }
    if (!columns_) return Verdict::not_mine;
    if (is_rule(line.text)) {
      columns_->set_rule(line.text);
      return Verdict::mine;
    }
    const auto row = columns_->row(line.text);
    if (!row) return Verdict::not_mine;
    return take_row(*row, line);
  }

  std::optional<Document> finish() override {
    if (!columns_) return std::nullopt;
    Document document;
    std::uint64_t sent = 0, dropped = 0;
    bool known = false;
    for (const PortTraffic& row : content_.traffic) {
      if (!row.tx_ok || !row.tx_drop) continue;
      known = true;
      sent += *row.tx_ok;
      dropped += *row.tx_drop;
    }
    if (known && sent + dropped > 0) {
      document.add_fact("switch.tx_drop_ratio",
                        static_cast<double>(dropped) / static_cast<double>(sent + dropped));
    }
    document.content = std::move(content_);
    return document;
  }

 private:
  Verdict take_row(const std::vector<std::string_view>& row, const Line& line) {
    PortTraffic out;
    out.port = row[0];
    out.line = line.number;
    bool any = false;
    const auto number = [&](std::string_view head) -> std::optional<std::uint64_t> {
      const auto column = columns_->find(head);
      if (!column) return std::nullopt;
      any = any || row[*column] == "N/A" || count_in(row[*column]).has_value();
      return count_in(row[*column]);
    };
    out.rx_ok = number("RX_OK");
    out.rx_error = number("RX_ERR");
    out.rx_drop = number("RX_DRP");
    out.tx_ok = number("TX_OK");
    out.tx_error = number("TX_ERR");
    out.tx_drop = number("TX_DRP");
    if (!any) return Verdict::not_mine;
    content_.traffic.push_back(std::move(out));
    return Verdict::mine;
  }

  SwitchEvidence content_;
  std::optional<Columns> columns_;
};

// ---- queues ----

bool is_queue_head(std::string_view text) {
  const auto words = host::words(text);
  return words.size() >= 4 && words[0] == "Port" && words[1] == "TxQ" && words[2].starts_with("Counter/pkts");
}

class SonicQueueCountersReader : public DocumentReader {
 public:
  explicit SonicQueueCountersReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    if (is_queue_head(line.text)) {
      has_head_ = true;
      return Verdict::mine;
    }
    if (!has_head_) return Verdict::not_mine;
    if (is_rule(line.text)) return Verdict::mine;
    return take_row(line);
  }

  std::optional<Document> finish() override {
    if (content_.queues.empty()) return std::nullopt;
    Document document;
    document.content = std::move(content_);
    return document;
  }

 private:
  // "Ethernet0  UC3  1,234  5678  0  0": multicast queues may have N/A.
  Verdict take_row(const Line& line) {
    const auto words = host::words(line.text);
    if (words.size() < 5 || words[1].size() < 3) return Verdict::not_mine;
    std::string_view queue = words[1];
    if (!queue.starts_with("UC") && !queue.starts_with("MC") && !queue.starts_with("ALL"))
      return Verdict::not_mine;
    QueueTraffic out;
    out.port = words[0];
    out.queue = queue;
    if (queue.starts_with("UC")) {
      const auto number = count_in(queue.substr(2));
      if (number && *number < 64) out.number = static_cast<int>(*number);
    }
    out.sent = count_in(words[2]);
    // Counter/pkts Counter/bytes Drop/pkts Drop/bytes: bytes of drops may be missing.
    out.dropped = count_in(words[4]);
    out.line = line.number;
    if (!out.sent && words[2] != "N/A") return Verdict::not_mine;
    content_.queues.push_back(std::move(out));
    return Verdict::mine;
  }

  SwitchEvidence content_;
  bool has_head_ = false;
};

constexpr std::string_view kInterfaceAnchors[] = {"RX_OK", "TX_OK"};
constexpr std::string_view kQueueAnchors[] = {"Counter/pkts"};

}  // namespace

Format sonic_interface_counters_format() {
  return {.name = "sonic-interface-counters",
          .anchors = kInterfaceAnchors,
          .begins = [](const Line& line, const Context&) { return is_interface_head(line.text); },
          .open = open_reader<SonicInterfaceCountersReader>};
}

Format sonic_queue_counters_format() {
  return {.name = "sonic-interface-counters",
          .anchors = kQueueAnchors,
          .begins = [](const Line& line, const Context&) { return is_queue_head(line.text); },
          .open = open_reader<SonicQueueCountersReader>};
}

}  // namespace rocetune::evidence
