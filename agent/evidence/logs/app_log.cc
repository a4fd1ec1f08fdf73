#include "agent/evidence/logs/app_log.h"

#include <algorithm>
#include <utility>

#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kAppAnchors[] = {"modify QP",
                                            "modify_qp",
                                            "modify qp",
                                            "RTR",
                                            "WC error",
                                            "wc->status",
                                            "IBV_WC_",
                                            "Work Request",
                                            "RDMA",
                                            "rdma",
                                            "GID",
                                            "gid",
                                            "ibv_",
                                            "libibverbs",
                                            "-rdmav",
                                            "mlx5:",
                                            "NVSHMEM",
                                            "nvshmem",
                                            "ibgda",
                                            "ibrc",
                                            "HCA",
                                            "register memory",
                                            "reg_mr",
                                            "retry counter",
                                            "IB device",
                                            "ibverbs",
                                            "allback to TCP",
                                            "alling back to TCP",
                                            "protection error",
                                            "access error",
                                            "request error",
                                            "operation error",
                                            "length error",
                                            "response error",
                                            "retry_exc_err",
                                            "register MR",
                                            "register buffer",
                                            "Register memory",
                                            "memory registration",
                                            "flushed error",
                                            "Flushed Error",
                                            "remote transport",
                                            "InfiniBand device",
                                            "*ERROR*:",
                                            "*NOTICE*:",
                                            "*WARNING*:"};

// "I0331 12:02:38.363528 56056 rdma_context.cpp:125] text"
bool is_glog(std::string_view text) {
  if (text.size() < 24 || std::string_view("IWEF").find(text[0]) == std::string_view::npos) return false;
  const auto digits = [&](std::size_t at, std::size_t count) {
    return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at),
                       text.begin() + static_cast<std::ptrdiff_t>(at + count), is_digit);
  };
  // With the year in newer ones: "I20250331 12:02:38".
  const std::size_t date = digits(1, 8) ? 8 : 4;
  return digits(1, date) && text[1 + date] == ' ' && digits(2 + date, 2) && text[4 + date] == ':';
}

// A message of a program, not a sentence about one: it has the marks that programs put in.
bool looks_logged(std::string_view text) {
  return text.find_first_of(":=[(") != std::string_view::npos || contains(text, " vs ");
}

enum class Kind { none, completion, qp_setup, registration, no_rdma, provider, gid, other };

bool says_failed(std::string_view text) {
  return contains_any(text, {"ailed", "rror", "annot", "ouldn't", "unable", "Unable", "refused"});
}

Kind kind_of(std::string_view text) {
  if (contains(text, "libibverbs: Warning") || contains(text, "libibverbs: warning")) return Kind::provider;
  if (contains_any(text, {"does not support the kernel ABI", "-rdmav"}) &&
      contains_any(text, {"cannot open shared object", "kernel ABI", "couldn't load", "not found"}))
    return Kind::provider;
  if (!looks_logged(text)) return Kind::none;
  if (contains_any(text, {"rror", "xceeded", "_ERR", "_err"}) && wc_status_in(text)) return Kind::completion;
  if (contains(text, "wc->status") || contains(text, "WC error")) return Kind::completion;
  if (says_failed(text)) {
    if (contains_any(text, {"modify QP", "modify_qp", "modify qp", "to RTR", "RTR failed"}))
      return Kind::qp_setup;
    if (contains_any(text, {"register memory", "reg_mr", "ibv_reg_", "register MR", "memory registration",
                            "register buffer", "Register memory"}))
      return Kind::registration;
  }
  if (contains_any(text,
                   {"no HCAs found", "No RDMA device", "no RDMA device", "No available RDMA", "No IB device",
                    "no IB device", "No RDMA devices", "no InfiniBand device", "No ibverbs device",
                    "allback to TCP", "alling back to TCP", "init failed for remote transport"}))
    return Kind::no_rdma;
  if (contains(text, "GID: (GID_Index") ||
      contains_any(text, {"GID index", "gid_index", "GID_Index", "sgid_index"}))
    return Kind::gid;
  if (says_failed(text) && contains_any(text, {"ibv_", "RDMA", "rdma_", "ibgda", "ibrc"})) return Kind::other;
  return Kind::none;
}

// Lines of a log that has been begun, although they say nothing about verbs.
bool is_log_line(std::string_view text) {
  return is_glog(text) ||
         contains_any(text, {"NVSHMEM INFO", "NVSHMEM WARN", "NVSHMEM ERROR",
                             "*NOTICE*:", "*ERROR*:", "*WARNING*:", "GB/s (RDMA)", "nvshmem/src/"});
}

std::optional<int> status_in(std::string_view text) {
  // "5 vs 0" of gloo stands beside IBV_WC_SUCCESS.
  if (contains(text, "wc->status")) {
    if (const auto at = text.find(" vs 0"); at != std::string_view::npos) {
      std::size_t begin = at;
      while (begin > 0 && is_digit(text[begin - 1])) --begin;
      if (const auto number = leading_integer(text.substr(begin, at - begin)))
        return static_cast<int>(*number);
    }
  }
  if (const auto named = wc_status_in(text)) return named;
  const auto number =
      integer_behind(text, "status:") ? integer_behind(text, "status:") : integer_behind(text, "status");
  return number && *number > 0 && *number < 256 ? std::optional<int>(static_cast<int>(*number))
                                                : std::nullopt;
}

std::optional<int> app_vendor_in(std::string_view text) {
  for (const std::string_view mark :
       {"vendor_err", "vendor err", "vendor error", "vendor_error", "vend_err"}) {
    const auto rest = behind(text, mark);
    if (!rest) continue;
    const auto hexadecimal = rest->substr(0, 4).find("0x");
    const auto value =
        hexadecimal != std::string_view::npos ? hexadecimal_behind(*rest, "0x") : integer_behind(text, mark);
    if (value) return static_cast<int>(*value);
  }
  return std::nullopt;
}

class AppLogReader final : public DocumentReader {
 public:
  explicit AppLogReader(const Context& context) : host_(context.host) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    if (dump_.take(text, line.number)) return Verdict::mine;
    // NCCL's own lines are for its reader.
    if (contains_any(text, {"NCCL INFO", "NCCL WARN"})) return Verdict::not_mine;
    const Kind kind = kind_of(text);
    if (kind == Kind::none) return is_log_line(text) ? Verdict::mine : Verdict::not_mine;
    keep(kind, text, Quote(text, line.number));
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    Document document;
    log_.cqe = dump_.first();
    if (log_.cqe) {
      add_facts_of(*log_.cqe, document);
      if (!dump_.host().empty() && dump_.host() != "localhost") document.host = std::string(dump_.host());
    }
    add_completion_facts(log_.signs, document);
    if (log_.cqe && log_.signs.completions.empty()) add_completion_of(*log_.cqe, log_.signs);
    document.content = std::move(log_);
    return document;
  }

 private:
  // `text`: the whole line, of which a quote may be a part.
  void keep(Kind kind, std::string_view text, Quote quote) {
    Signs& signs = log_.signs;
    switch (kind) {
      case Kind::completion:
        keep_completion(text, std::move(quote));
        break;
      case Kind::qp_setup: {
        FailedQpSetup failed;
        failed.error = error_in(text);
        failed.device = word_behind(text, " on ");
        failed.quote = std::move(quote);
        signs.qp_setups.add(std::move(failed));
        break;
      }
      case Kind::registration: {
        FailedRegistration failed;
        failed.error = error_in(text);
        failed.quote = std::move(quote);
        signs.registrations.add(std::move(failed));
        break;
      }
      case Kind::no_rdma:
        signs.no_rdma.add(std::move(quote));
        break;
      case Kind::provider:
        signs.missing_provider.add(std::move(quote));
        break;
      case Kind::gid:
        keep_gid(text, std::move(quote));
        break;
      case Kind::other:
        signs.other_errors.add(std::move(quote));
        break;
      case Kind::none:
        break;
    }
  }

  void keep_completion(std::string_view text, Quote quote) {
    const auto status = status_in(text);
    if (!status || *status == 0) return;
    FailedCompletion failed;
    failed.quote = std::move(quote);
    failed.status = *status;
    failed.vendor = app_vendor_in(text);
    failed.device = word_behind(text, "local_nic: ");
    log_.signs.add(std::move(failed));
  }

  // "RDMA device: mlx5_0, LID: 0, GID: (GID_Index 1) fe:80:00:..."
  void keep_gid(std::string_view text, Quote quote) {
    UsedGid used;
    for (const std::string_view mark :
         {"GID_Index ", "GID index: ", "GID index ", "gid_index=", "gid_index: ", "gid_index "}) {
      if (const auto index = integer_behind(text, mark)) {
        used.index = static_cast<int>(*index);
        break;
      }
    }
    bool has_gid = false;
    for (std::string_view word : Words(text)) {
      while (!word.empty() && (word.back() == ',' || word.back() == '.' || word.back() == ')'))
        word.remove_suffix(1);
      if (std::count(word.begin(), word.end(), ':') < 2) continue;
      if (const auto gid = GidText::of(word)) {
        used.gid = *gid;
        has_gid = true;
      }
    }
    if (!has_gid) return;
    used.device = word_behind(text, "RDMA device: ");
    used.quote = std::move(quote);
    log_.signs.gids.add(std::move(used));
  }

  // "Connection timed out [110]", "errno 110", "ret=22"
  static std::optional<int> error_in(std::string_view text) {
    if (const auto named = errno_in(text)) return named;
    for (const std::string_view mark : {"errno=", "errno ", "errno: ", "error code ", "ret="}) {
      if (const auto number = integer_behind(text, mark)) return static_cast<int>(std::abs(*number));
    }
    const auto open = text.rfind('[');
    if (open == std::string_view::npos || !text.ends_with(']')) return std::nullopt;
    const auto number = integer_of(text.substr(open + 1, text.size() - open - 2));
    return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
  }

  std::string host_;
  AppLog log_;
  CqeDump dump_;
};

bool begins_app(const Line& line, const Context&) {
  const std::string_view text = line.text;
  if (CqeDump::is_head(text)) return true;
  if (contains_any(text, {"NCCL INFO", "NCCL WARN"})) return false;
  if (kind_of(text) != Kind::none) return true;
  if (is_glog(text)) return contains_any(text, {"rdma", "RDMA", "transfer_engine", "ibv_"});
  return is_log_line(text);
}

}  // namespace

Format app_log_format() {
  return {.name = "app-log", .anchors = kAppAnchors, .begins = begins_app, .open = open_reader<AppLogReader>};
}

}  // namespace rocetune::evidence
