#include "agent/evidence/logs/ucx_log.h"

#include <utility>

#include "agent/evidence/verbs_words.h"
#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kUcxAnchors[] = {"ib_mlx5_log.c", "synd 0x",   "wqe[",    " UCX ",
                                            "ucp_",          "uct_",      "ib_md.c", "ib_device.c",
                                            "ib_iface.c",    "ucp_worker"};

bool is_ucx_line(std::string_view text) {
  if (contains(text, "ib_mlx5_log.c")) return true;
  if (contains(text, "synd 0x") && contains(text, "vend 0x")) return true;
  if (contains(text, " wqe[") && contains(text, " QP 0x")) return true;
  // "[1700000000.1] [node3:31180:0] ib_md.c:379 UCX ERROR ibv_reg_mr(...) failed: Cannot allocate memory"
  const auto level = behind(text, " UCX ");
  return level &&
         (level->starts_with("ERROR ") || level->starts_with("WARN ") || level->starts_with("DIAG ") ||
          level->starts_with("INFO ") || level->starts_with("DEBUG "));
}

// "[node3:31180:0:31180] ..." -> "node3"
std::string_view host_of(std::string_view text) {
  for (auto open = text.find('['); open != std::string_view::npos; open = text.find('[', open + 1)) {
    const auto colon = text.find(':', open);
    const auto close = text.find(']', open);
    if (close == std::string_view::npos) return {};
    if (colon == std::string_view::npos || colon > close) continue;
    const std::string_view host = text.substr(open + 1, colon - open - 1);
    if (host.empty() || host.find_first_of(" .") == 0) continue;
    if (host.find_first_not_of("0123456789.") == std::string_view::npos) continue;  // a time
    return host;
  }
  return {};
}

class UcxLogReader final : public DocumentReader {
 public:
  explicit UcxLogReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (!is_ucx_line(line.text)) return Verdict::not_mine;
    const std::string_view text = line.text;
    const std::string_view host = host_of(text);
    note_host(host);
    if (contains(text, "synd 0x")) {
      take_completion(line, host);
    } else if (contains(text, " wqe[")) {
      add_request(text);
    } else {
      take_message(line, host);
    }
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    Document document;
    if (syndrome_) {
      document.add_fact("cqe.syndrome", *syndrome_);
      if (vendor_) document.add_fact("cqe.vendor_syndrome", *vendor_);
      if (qpn_) document.add_fact("cqe.qpn", static_cast<double>(*qpn_));
    }
    if (!host_.empty() && !several_hosts_) document.host = host_;
    document.content = std::move(log_);
    return document;
  }

 private:
  void note_host(std::string_view host) {
    if (host.empty()) return;
    if (host_.empty()) host_ = host;
    several_hosts_ |= host_ != host;
  }

  // "Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)"; older: "Error on
  // mlx5_3:1 QP 0xe6d7 wqe[7821]: Transport retry count exceeded (synd 0x15 vend 0x81) opcode SEND"
  void take_completion(const Line& line, std::string_view host) {
    const std::string_view text = line.text;
    const auto syndrome = hexadecimal_behind(text, "synd ");
    const auto vendor = hexadecimal_behind(text, "vend ");
    if (!syndrome) return;
    if (!syndrome_) {
      syndrome_ = static_cast<int>(*syndrome);
      if (vendor) vendor_ = static_cast<int>(*vendor);
      wants_qpn_ = true;
    }
    FailedCompletion failed;
    failed.quote = Quote(text, line.number, host);
    failed.status = wc_status_of_syndrome(static_cast<int>(*syndrome)).value_or(21);
    if (vendor) failed.vendor = static_cast<int>(*vendor);
    const auto device = behind(text, " on ");
    if (device) failed.device = device->substr(0, device->find_first_of(":/ \t"));
    failed.is_infiniband = contains(text, "/IB ");
    log_.signs.add(std::move(failed));
    if (contains(text, "wqe[")) add_request(text);
  }

  // "DCI QP 0x14e4 wqe[0]: SEND s-e [rqpn 0x2248a rmac 50:6b:... sgix 0 dgid fe80::1 tc 0] [inl len 18]"
  void add_request(std::string_view text) {
    if (wants_qpn_) {
      if (const auto qpn = hexadecimal_behind(text, "QP ")) qpn_ = *qpn;
      wants_qpn_ = false;
    }
    // Beyond what is kept, details belong to none.
    if (log_.signs.completions.empty() || log_.signs.completions.total > log_.signs.completions.first.size())
      return;
    FailedCompletion& failed = log_.signs.completions.first.back();
    if (const auto request = integer_behind(text, "wqe[")) {
      (*request == 0 ? failed.is_first_request : failed.is_later_request) = true;
    }
    if (contains(text, " rlid ")) failed.is_infiniband = true;
    if (const auto index = integer_behind(text, "sgix ")) failed.sgid_index = static_cast<int>(*index);
    if (const auto traffic_class = integer_behind(text, " tc "))
      failed.traffic_class = static_cast<int>(*traffic_class);
    const std::string_view gid = word_behind(text, "dgid ");
    if (auto remote = GidText::of(gid)) failed.remote = remote;
  }

  void take_message(const Line& line, std::string_view host) {
    const std::string_view text = line.text;
    const Quote quote(text, line.number, host);
    const bool failed = contains_any(text, {"failed", "Failed", "error", "ERROR"});
    if (!failed) return;
    if (contains_any(text, {"ibv_reg_mr", "ibv_reg_dmabuf", "ibv_create_cq", "ibv_exp_reg_mr"})) {
      FailedRegistration registration;
      registration.quote = quote;
      registration.error = errno_in(text);
      log_.signs.registrations.add(std::move(registration));
    } else if (contains_any(text, {"modify_qp", "modify QP", "RTR"})) {
      FailedQpSetup setup;
      setup.quote = quote;
      setup.error = errno_in(text);
      log_.signs.qp_setups.add(std::move(setup));
    } else if (contains_any(text, {"is not available", "no usable transports", "no supported transports"})) {
      log_.signs.no_rdma.add(quote);
    } else {
      log_.signs.other_errors.add(quote);
    }
  }

  UcxLog log_;
  std::string host_;
  bool several_hosts_ = false;
  std::optional<int> syndrome_, vendor_;
  std::optional<std::int64_t> qpn_;
  bool wants_qpn_ = false;
};

bool begins_ucx(const Line& line, const Context&) { return is_ucx_line(line.text); }

}  // namespace

Format ucx_log_format() {
  return {.name = "ucx-log", .anchors = kUcxAnchors, .begins = begins_ucx, .open = open_reader<UcxLogReader>};
}

}  // namespace rocetune::evidence
