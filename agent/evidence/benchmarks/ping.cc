#include "agent/evidence/benchmarks/ping.h"

#include "agent/evidence/words.h"

namespace rocetune::evidence {

std::optional<bool> PingRun::passes() const {
  if (sent && received) {
    if (*received == *sent && *sent > 0) return true;
    if (*received == 0) return false;
    return std::nullopt;
  }
  if (local_mtu_bytes || hop_mtu_bytes || unreachable)
    return replies == 0 ? std::optional<bool>(false) : std::nullopt;
  if (replies > 0) return true;
  return std::nullopt;
}

namespace {

constexpr std::string_view kPingAnchors[] = {"PING ",       "packets transmitted", "ping: local error",
                                             "Frag needed", "ping statistics",     "icmp_seq"};

class PingReader final : public DocumentReader {
 public:
  explicit PingReader(const Context& context) : command_(context.command) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    if (line.is_command || text.starts_with("ping ")) {
      command_ = text;
      return Verdict::not_mine;
    }
    if (text.starts_with("PING ") || text.starts_with("PING6(")) {
      begin_run(line);
      run().target = word_behind(text, "PING ");
      if (const auto bytes = integer_behind(text, ") "); bytes && *bytes >= 0 && *bytes < 1 << 20) {
        run().payload_bytes = static_cast<int>(*bytes);
      } else if (const auto data = integer_behind(text, "): "); data && *data >= 0 && *data < 1 << 20) {
        run().payload_bytes = static_cast<int>(*data);
      }
      return Verdict::mine;
    }
    return take_result(line) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (ping_.runs.empty()) return std::nullopt;
    Document document;
    document.content = std::move(ping_);
    return document;
  }

 private:
  bool take_result(const Line& line) {
    const std::string_view text = line.text;
    if (contains(text, "packets transmitted")) {
      const auto sent = count_of(Words(text)[0]);
      auto received = integer_behind(text, "transmitted,");
      if (ping_.runs.empty() || run().sent) begin_run(line);
      run().sent = sent;
      if (received && *received >= 0) run().received = static_cast<std::uint64_t>(*received);
      return sent.has_value();
    }
    if (contains(text, "local error") && contains_any(text, {"essage too long"})) {
      for (const std::string_view mark : {"mtu=", "mtu = ", "mtu: "}) {
        if (const auto mtu = integer_behind(text, mark); mtu && *mtu > 0 && *mtu < 1 << 20) {
          some_run(line).local_mtu_bytes = static_cast<int>(*mtu);
          break;
        }
      }
      return true;
    }
    if (contains(text, "Frag needed")) {
      PingRun& current = some_run(line);
      current.hop = word_behind(text, "From ");
      const auto mtu =
          integer_behind(text, "mtu =") ? integer_behind(text, "mtu =") : integer_behind(text, "mtu=");
      if (mtu && *mtu > 0 && *mtu < 1 << 20) current.hop_mtu_bytes = static_cast<int>(*mtu);
      return true;
    }
    if (contains(text, "Unreachable") && contains(text, "icmp_seq")) {
      some_run(line).unreachable = true;
      return true;
    }
    if (contains(text, " bytes from ") && contains_any(text, {"icmp_seq", "seq="})) {
      PingRun& current = some_run(line);
      ++current.replies;
      // "8980 bytes from": the ICMP header counts.
      if (const auto bytes = leading_integer(text);
          bytes && !current.payload_bytes && *bytes >= 8 && *bytes < 1 << 20) {
        current.payload_bytes = static_cast<int>(*bytes) - 8;
      }
      return true;
    }
    return contains(text, "ping statistics") || text.starts_with("rtt min/avg/max") ||
           text.starts_with("round-trip min/avg/max") || contains(text, "Request timeout for icmp_seq") ||
           contains(text, "no answer yet for icmp_seq");
  }

  PingRun& run() { return ping_.runs.back(); }
  PingRun& some_run(const Line& line) {
    if (ping_.runs.empty()) begin_run(line);
    return run();
  }

  void begin_run(const Line& line) {
    if (ping_.runs.size() >= Ping::kMostRuns) ping_.runs.pop_back();
    PingRun& next = ping_.runs.emplace_back();
    next.line = line.number;
    next.is_unfragmented = contains_any(command_, {"-M do", "-Mdo", "-D ", " -f -l"});
    if (const auto size = integer_behind(command_, " -s ");
        size && contains(command_, "ping") && *size >= 0 && *size < 1 << 20) {
      next.payload_bytes = static_cast<int>(*size);
    }
  }

  std::string command_;
  Ping ping_;
};

bool begins_ping(const Line& line, const Context&) {
  const std::string_view text = line.text;
  if (line.is_command) return false;
  return (text.starts_with("PING ") && contains(text, "bytes")) || contains(text, "packets transmitted") ||
         contains(text, "ping: local error") || contains(text, "Frag needed and DF set") ||
         (contains(text, " bytes from ") && contains(text, "icmp_seq"));
}

}  // namespace

Format ping_format() {
  return {.name = "ping", .anchors = kPingAnchors, .begins = begins_ping, .open = open_reader<PingReader>};
}

}  // namespace rocetune::evidence
