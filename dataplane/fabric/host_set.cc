#include "dataplane/fabric/host_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace rocetune::fabric {
namespace {

constexpr std::string_view kForms = "hosts such as \"0-63\", \"0-62/2, 1\", [0, 5, 9] or 3, each once";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

bool read_number(std::string_view text, std::uint32_t& out) {
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// "5", "0-63", "0-62/2".
bool read_range(std::string_view text, HostRange& out) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos && (!read_number(text.substr(slash + 1), out.step) || out.step == 0))
    return false;
  const std::string_view ends = text.substr(0, slash);
  const std::size_t dash = ends.find('-');
  if (!read_number(ends.substr(0, dash), out.first)) return false;
  out.last = out.first;
  if (dash == std::string_view::npos) return slash == std::string_view::npos;
  return read_number(ends.substr(dash + 1), out.last) && out.first <= out.last;
}

// Sees a host named twice.
class Seen {
 public:
  bool take(const HostRange& range) {
    if (range.last >= HostSet::kLimit) return false;
    for (std::uint32_t i = 0; i < range.size(); ++i) {
      const NodeId host = range.first + i * range.step;
      if (is_taken_[host]) return false;
      is_taken_[host] = true;
    }
    return true;
  }

 private:
  std::vector<bool> is_taken_ = std::vector<bool>(HostSet::kLimit);
};

}  // namespace

Parsed<HostSet> HostSet::parse(std::string_view text) {
  HostSet out;
  Seen seen;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    HostRange range;
    if (!read_range(rest.substr(0, comma), range) || !seen.take(range))
      return tl::unexpected(UnitError{std::string(text), std::string(kForms)});
    out.add(range);
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

void HostSet::add(const HostRange& range) {
  ROCETUNE_ASSERT(range.step > 0 && range.first <= range.last);
  ranges_.push_back(range);
  ends_.push_back(size() + range.size());
}

NodeId HostSet::operator[](std::uint32_t index) const {
  ROCETUNE_ASSERT(index < size());
  const auto end = std::ranges::upper_bound(ends_, index);
  const HostRange& range = ranges_[static_cast<std::size_t>(end - ends_.begin())];
  return range.first + (index - (*end - range.size())) * range.step;
}

NodeId HostSet::largest() const {
  NodeId out = 0;
  for (const HostRange& range : ranges_) out = std::max(out, range.first + (range.size() - 1) * range.step);
  return out;
}

}  // namespace rocetune::fabric

namespace rocetune::toml_detail {

std::string TomlForm<fabric::HostSet>::allowed() { return std::string(fabric::kForms); }

bool TomlForm<fabric::HostSet>::read(const Cursor& at, fabric::HostSet& out) {
  if (at.is(Node::Kind::string)) {
    const auto parsed = fabric::HostSet::parse(at.node->text);
    if (!parsed) return at.wrong(parsed.error().allowed);
    out = *parsed;
    return true;
  }
  if (std::uint16_t host = 0; at.is(Node::Kind::integer)) {
    if (!read_value(at, host)) return false;
    out = fabric::HostSet();
    out.add({host, host, 1});
    return true;
  }
  std::vector<std::uint16_t> hosts;
  if (!at.is(Node::Kind::array) || at.node->elements.empty()) return at.wrong(allowed());
  if (!read_value(at, hosts)) return false;
  fabric::HostSet set;
  fabric::Seen seen;
  for (const std::uint32_t host : hosts) {
    if (!seen.take({host, host, 1})) return at.wrong(allowed());
    set.add({host, host, 1});
  }
  out = std::move(set);
  return true;
}

}  // namespace rocetune::toml_detail
