#include "dataplane/fabric/flow_file.h"

#include <array>
#include <charconv>
#include <optional>

#include "dataplane/fabric/traffic.h"

namespace rocetune::fabric {
namespace {

constexpr std::array<std::string_view, 4> kNames{"start_us", "from", "to", "bytes"};
constexpr std::string_view kHeader = "start_us,from,to,bytes";
constexpr std::string_view kBlank = " \t\r";

// A field and where it begins, from 1.
struct Field {
  std::string_view text;
  int column = 0;
};

Field trimmed(std::string_view text, std::size_t column) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {{}, static_cast<int>(column)};
  return {text.substr(first, text.find_last_not_of(kBlank) - first + 1), static_cast<int>(column + first)};
}

std::vector<Field> fields_of(std::string_view line) {
  std::vector<Field> out;
  for (std::size_t begin = 0;;) {
    const std::size_t comma = line.find(',', begin);
    out.push_back(trimmed(line.substr(begin, comma - begin), begin + 1));
    if (comma == std::string_view::npos || out.size() > kNames.size()) return out;
    begin = comma + 1;
  }
}

std::optional<std::uint64_t> number_in(std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < least || out > most)
    return std::nullopt;
  return out;
}

class Reader {
 public:
  Reader(const std::string& file, std::span<const NodeId> islands, Duration latest)
      : file_(file), islands_(islands), latest_(latest) {}

  void read(std::string_view line) {
    ++line_;
    const Field whole = trimmed(line, 1);
    if (whole.text.empty() || whole.text.front() == '#') return;
    if (line_ == 1 && whole.text == kHeader) return;
    const std::vector<Field> fields = fields_of(line);
    if (fields.size() != kNames.size()) return issue(whole, "", std::string(kHeader));
    if (out_.flows.size() >= kMostFlows) return issue(whole, "", fmt::format("at most {} flows", kMostFlows));
    read(fields);
  }
  FlowFile take() {
    if (left_out_ > 0)
      out_.issues.push_back(
          {{file_, 0, 0}, "", fmt::format("{} more bad lines", left_out_), "lines as above", ""});
    return std::move(out_);
  }

 private:
  void read(const std::vector<Field>& fields) {
    Flow flow;
    const auto start = parse_duration(std::string(fields[0].text) + "us");
    if (!start || *start < Duration(0) || *start > latest_)
      return issue(fields[0], kNames[0], fmt::format("0 to {} microseconds", latest_.microseconds()));
    flow.start = Instant(*start);
    if (!read_host(fields[1], kNames[1], flow.from) || !read_host(fields[2], kNames[2], flow.to)) return;
    if (flow.from == flow.to) return issue(fields[2], kNames[2], "another host than from");
    if (islands_[flow.from] != islands_[flow.to])
      return issue(fields[2], kNames[2], fmt::format("a host that host {} has a way to", flow.from));
    constexpr auto kMost = static_cast<std::uint64_t>(SizeDistribution::kLongest.count());
    const auto bytes = number_in(fields[3].text, 1, kMost);
    if (!bytes) return issue(fields[3], kNames[3], fmt::format("1 to {}", kMost));
    flow.bytes = *bytes;
    out_.flows.push_back(flow);
  }
  bool read_host(const Field& field, std::string_view name, NodeId& out) {
    const auto host = number_in(field.text, 0, islands_.size() - 1);
    if (host)
      out = static_cast<NodeId>(*host);
    else
      issue(field, name, fmt::format("a host, 0 to {}", islands_.size() - 1));
    return host.has_value();
  }
  void issue(const Field& at, std::string_view key, std::string allowed) {
    if (out_.issues.size() >= FlowFile::kMostIssues) {
      ++left_out_;
      return;
    }
    out_.issues.push_back({{file_, line_, at.column},
                           std::string(key),
                           fmt::format("\"{}\"", at.text),
                           std::move(allowed),
                           ""});
  }

  const std::string& file_;
  std::span<const NodeId> islands_;
  Duration latest_;
  int line_ = 0;
  std::size_t left_out_ = 0;
  FlowFile out_;
};

}  // namespace

FlowFile parse_flow_file(std::string_view text, const std::string& file, std::span<const NodeId> islands,
                         Duration latest) {
  ROCETUNE_ASSERT(!islands.empty());
  Reader reader(file, islands, latest);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    reader.read(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return reader.take();
}

}  // namespace rocetune::fabric
