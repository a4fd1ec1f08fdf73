#include "agent/evidence/host_tools/qp_attributes.h"

#include <charconv>

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

// Names that nothing else prints; the others count only beside these.
constexpr std::string_view kOwnNames[] = {
    "min_rnr_timer",  "rnr_retry",   "retry_cnt",   "max_rd_atomic",   "max_dest_rd_atomic",
    "path_mig_state", "alt_timeout", "dest_qp_num", "qp_access_flags", "rq_psn",
    "sq_psn",         "path_mtu",    "attr.",       "attr->"};
constexpr std::string_view kOtherNames[] = {
    "timeout",     "qp_state",     "cur_qp_state",   "pkey_index", "port_num",           "qkey",
    "sq_draining", "alt_port_num", "alt_pkey_index", "rate_limit", "en_sqd_async_notify"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  for (const std::string_view one : names) {
    if (one == name) return true;
  }
  return false;
}

struct QpAttribute {
  std::string_view name;
  std::optional<std::int64_t> value;  // nothing: a word, "IBV_MTU_4096"
};

// "min_rnr_timer: 12", ".rnr_retry = 7,", "attr.timeout = 14;".
std::optional<QpAttribute> qp_attribute_of(std::string_view line) {
  line = trimmed(line);
  auto separator = line.find_first_of(":=");
  if (separator == std::string_view::npos) separator = line.find_first_of(" \t");
  if (separator == std::string_view::npos || separator == 0) return std::nullopt;
  std::string_view name = trimmed(line.substr(0, separator));
  name.remove_prefix(name.rfind('.') + 1);
  if (name.starts_with("attr->")) name.remove_prefix(6);
  std::string_view value = trimmed(line.substr(separator + 1));
  while (!value.empty() && (value.back() == ',' || value.back() == ';'))
    value = trimmed(value.substr(0, value.size() - 1));
  value = value.substr(0, value.find_first_of(" \t(/"));
  if (value.empty() || !is_made_of(value, "_-|")) return std::nullopt;
  QpAttribute out{name, std::nullopt};
  if (const auto number = small_number_of(value)) out.value = *number;
  return out;
}

class QpAttributesReader : public DocumentReader {
 public:
  explicit QpAttributesReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    const auto found = qp_attribute_of(line.text);
    if (!found || (!is_one_of(found->name, kOwnNames) && !is_one_of(found->name, kOtherNames)))
      return Verdict::not_mine;
    const std::string name(found->name);
    if (content_.lines.contains(name)) return Verdict::next_document;  // of the next queue pair
    content_.lines[name] = line.number;
    if (found->value) content_.values[name] = *found->value;
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (content_.values.empty()) return std::nullopt;
    Document document;
    if (const auto code = content_.value("min_rnr_timer")) {
      if (const auto ms = rnr_timer_ms(*code)) document.add_fact("rnr.timer_ms", *ms);
    }
    document.content = std::move(content_);
    return document;
  }

 private:
  QpAttributes content_;
};

bool begins_qp_attributes(const Line& line, const Context&) {
  if (line.is_command) return false;
  const auto found = qp_attribute_of(line.text);
  if (!found) return false;
  // "attr.timeout = 14;" of a program: any name of the struct.
  if (trimmed(line.text).starts_with("attr") && is_one_of(found->name, kOtherNames)) return true;
  return found->value && is_one_of(found->name, kOwnNames);
}

}  // namespace

std::optional<std::int64_t> QpAttributes::value(std::string_view name) const {
  const auto at = values.find(name);
  return at == values.end() ? std::nullopt : std::optional(at->second);
}

int QpAttributes::line(std::string_view name) const {
  const auto at = lines.find(name);
  return at == lines.end() ? 0 : at->second;
}

std::optional<double> rnr_timer_ms(std::int64_t code) {
  static constexpr double kMilliseconds[32] = {655.36, 0.01,  0.02,  0.03,   0.04,   0.06,   0.08,   0.12,
                                               0.16,   0.24,  0.32,  0.48,   0.64,   0.96,   1.28,   1.92,
                                               2.56,   3.84,  5.12,  7.68,   10.24,  15.36,  20.48,  30.72,
                                               40.96,  61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};
  if (code < 0 || code > 31) return std::nullopt;
  return kMilliseconds[code];
}

Format qp_attributes_format() {
  static constexpr std::string_view kAnchors[] = {
      "min_rnr_timer",  "rnr_retry",   "retry_cnt",   "max_rd_atomic",   "max_dest_rd_atomic",
      "path_mig_state", "alt_timeout", "dest_qp_num", "qp_access_flags", "rq_psn",
      "sq_psn",         "path_mtu",    "attr.",       "attr->"};
  return {.name = "qp-attributes",
          .anchors = kAnchors,
          .begins = begins_qp_attributes,
          .open = open_reader<QpAttributesReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
