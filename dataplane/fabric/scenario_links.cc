#include "dataplane/fabric/scenario_links.h"

#include <algorithm>
#include <charconv>

#include "dataplane/fabric/scenario_parts.h"

namespace rocetune::fabric {
namespace {

constexpr std::size_t kMostNamed = 8;  // nodes in one issue

// "host 3, host 5 and 4 more"
std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) out += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMostNamed) out += fmt::format(" and {} more", names.size() - kMostNamed);
  return out;
}

class LinksReader {
 public:
  LinksReader(TableReader& t, const LinkSpec& usual) : t_(t), usual_(usual) {}

  Topology read() {
    need(t_.required("hosts", out_.hosts, between(1U, kMostHosts)));
    need(t_.required("switches", out_.switches, between(1U, kMostHosts)));
    if (!is_good_) {
      t_.ignore("links");
      return {};
    }
    ports_.resize(out_.hosts + out_.switches);
    t_.required_array_of_tables("links", [&](TableReader& link) { read_link(link); });
    if (is_good_) find_left_out();
    return is_good_ ? std::move(out_) : Topology{};
  }

 private:
  bool need(bool was_read) {
    is_good_ = is_good_ && was_read;
    return was_read;
  }
  void read_link(TableReader& link) {
    LinkSpec one = usual_;
    const auto parse = [&](std::string_view text) { return parse_node(text, out_); };
    const bool has_a = need(link.required_text("a", one.a, parse));
    const bool has_b = need(link.required_text("b", one.b, parse));
    need(link.optional("rate", one.rate, a_rate()) || !link.has("rate"));
    need(read_delay(link, one));
    need(read_loss(link, one));
    if (!has_a || !has_b) return;
    if (one.a == one.b) return refuse(link, "b", "another node than a");
    if (out_.is_host(one.a) && out_.is_host(one.b)) return refuse(link, "b", "a switch, as a is a host");
    take_port(link, "a", one.a);
    take_port(link, "b", one.b);
    out_.links.push_back(one);
  }
  void take_port(TableReader& link, std::string_view end, NodeId node) {
    const std::uint32_t most = out_.is_host(node) ? 1 : 2 * kMostPorts;
    if (++ports_[node] > most)
      refuse(link, end, out_.is_host(node) ? "a host without a link" : fmt::format("at most {} links", most));
  }
  void refuse(TableReader& link, std::string_view key, std::string allowed) {
    is_good_ = false;
    link.reject(key, std::move(allowed));
  }
  void find_left_out() {
    std::vector<std::string> names;
    for (NodeId node = 0; node < ports_.size(); ++node) {
      if (ports_[node] > 0) continue;
      names.push_back(out_.name_of(node));
    }
    if (names.empty()) return;
    is_good_ = false;
    t_.issue("links", "none of " + list_of(names), "one of each host, one or more of each switch");
  }

  TableReader& t_;
  const LinkSpec& usual_;
  Topology out_;
  std::vector<std::uint32_t> ports_;  // by node: in use
  bool is_good_ = true;
};

}  // namespace

Parsed<std::uint32_t> parse_count(std::string_view text, std::uint32_t least, std::uint32_t most) {
  std::uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < least || out > most)
    return tl::unexpected(UnitError{std::string(text), fmt::format("{} to {}", least, most)});
  return out;
}

Parsed<NodeId> parse_node(std::string_view text, const Topology& topology) {
  const auto number_after = [&](std::string_view kind, std::uint32_t count) -> Parsed<std::uint32_t> {
    if (!text.starts_with(kind)) return tl::unexpected(UnitError{});
    return parse_count(text.substr(kind.size()), 0, count - 1);
  };
  if (const auto host = number_after("host ", topology.hosts)) return *host;
  if (const auto at = number_after("switch ", topology.switches)) return topology.switch_id(*at);
  return tl::unexpected(
      UnitError{std::string(text), fmt::format("\"host 0\" to \"host {}\", \"switch 0\" to \"switch {}\"",
                                               topology.hosts - 1, topology.switches - 1)});
}

bool read_loss(TableReader& t, LinkSpec& out) {
  const bool has_loss = t.optional("loss", out.loss, between(Ratio(0), Ratio::one())) || !t.has("loss");
  const bool has_errors = t.optional_text("bit_error_rate", out.bit_errors, BitErrorRate::parse);
  return has_loss && (has_errors || !t.has("bit_error_rate"));
}

bool read_delay(TableReader& t, LinkSpec& out) {
  Metres length;
  const bool has_delay = t.optional("delay", out.delay, a_delay());
  const bool has_length = t.optional("length", length, between(Metres(1), Metres(10'000'000)));
  if (t.has("delay") && t.has("length")) {
    t.reject("length", "this or delay, not both");
    return false;
  }
  if (has_length) out.delay = propagation_delay(length);
  return (has_delay || !t.has("delay")) && (has_length || !t.has("length"));
}

Topology read_links(TableReader& t, const LinkSpec& usual) { return LinksReader(t, usual).read(); }

}  // namespace rocetune::fabric
