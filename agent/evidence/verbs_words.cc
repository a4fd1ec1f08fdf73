#include "agent/evidence/verbs_words.h"

#include <algorithm>
#include <charconv>

#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

struct Status {
  int value;
  std::string_view text;  // ibv_wc_status_str, in lower case
  std::string_view name;  // enumerator without IBV_WC_, in lower case
};
constexpr Status kStatuses[] = {
    {1, "local length error", "loc_len_err"},
    {2, "local qp operation error", "loc_qp_op_err"},
    {3, "local ee context operation error", "loc_eec_op_err"},
    {4, "local protection error", "loc_prot_err"},
    {5, "work request flushed error", "wr_flush_err"},
    {6, "memory management operation error", "mw_bind_err"},
    {7, "bad response error", "bad_resp_err"},
    {8, "local access error", "loc_access_err"},
    {9, "remote invalid request error", "rem_inv_req_err"},
    {10, "remote access error", "rem_access_err"},
    {11, "remote operation error", "rem_op_err"},
    {12, "transport retry counter exceeded", "retry_exc_err"},
    {13, "rnr retry counter exceeded", "rnr_retry_exc_err"},
    {14, "local rdd violation error", "loc_rdd_viol_err"},
    {15, "remote invalid rd request", "rem_inv_rd_req_err"},
    {16, "aborted error", "rem_abort_err"},
    {21, "general error", "general_err"},
};

struct Errno {
  int value;
  std::string_view text;
};
constexpr Errno kErrnos[] = {
    {110, "Connection timed out"},   {61, "No data available"},
    {22, "Invalid argument"},        {19, "No such device"},
    {101, "Network is unreachable"}, {113, "No route to host"},
    {12, "Cannot allocate memory"},  {14, "Bad address"},
    {1, "Operation not permitted"},  {95, "Operation not supported"},
    {5, "Input/output error"},       {11, "Resource temporarily unavailable"},
    {13, "Permission denied"},       {121, "Remote I/O error"},
    {28, "No space left on device"},
};

// mlx5_handle_error_cqe of rdma-core's providers/mlx5/cq.c.
struct Syndrome {
  int value, status;
};
constexpr Syndrome kSyndromes[] = {{0x01, 1},  {0x02, 2},  {0x04, 4}, {0x05, 5},  {0x06, 6},
                                   {0x10, 7},  {0x11, 8},  {0x12, 9}, {0x13, 10}, {0x14, 11},
                                   {0x15, 12}, {0x16, 13}, {0x22, 16}};

bool is_word_of_eight(std::string_view word) {
  return word.size() == 8 && std::all_of(word.begin(), word.end(), is_hex_digit);
}

std::uint32_t hexadecimal(std::string_view word) {
  std::uint32_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value, 16);
  return value;
}

}  // namespace

std::optional<int> wc_status_in(std::string_view text) {
  const std::string lower = lower_case(text);
  for (const Status& status : kStatuses) {
    if (contains(lower, status.text)) return status.value;
    const auto at = lower.find(status.name);
    // "retry_exc_err" is the end of "rnr_retry_exc_err" too.
    if (at != std::string::npos && (at < 4 || lower.compare(at - 4, 4, "rnr_") != 0)) return status.value;
  }
  return std::nullopt;
}

std::string_view wc_status_text(int status) {
  for (const Status& known : kStatuses) {
    if (known.value == status) return known.text;
  }
  return status == wc::kSuccess ? "success" : "unknown status";
}

std::optional<int> errno_in(std::string_view text) {
  for (const Errno& known : kErrnos) {
    if (contains(text, known.text)) return known.value;
  }
  return std::nullopt;
}

std::optional<int> wc_status_of_syndrome(int syndrome) {
  for (const Syndrome& known : kSyndromes) {
    if (known.value == syndrome) return known.status;
  }
  return std::nullopt;
}

bool CqeDump::is_head(std::string_view text) {
  return text.find("mlx5: ") != std::string_view::npos && text.ends_with("got completion with error:");
}

bool CqeDump::take(std::string_view text, int line) {
  if (text.size() < 35) return false;
  if (is_head(text)) {
    rows_ = 0;
    keeps_ = !first_;
    std::string_view host = *behind(text, "mlx5: ");
    host = host.substr(0, host.find(':'));
    host_size_ = std::min(host.size(), host_.size());
    std::copy_n(host.data(), host_size_, host_.data());
    return true;
  }
  if (rows_ < 0 || rows_ >= 8 || text.size() > 80) return false;
  const Words words(text);
  if (words.size() != 4 || !std::all_of(words.begin(), words.end(), is_word_of_eight)) {
    rows_ = -1;
    return false;
  }
  ++rows_;
  // struct mlx5_err_cqe: the last row holds vendor syndrome and syndrome, then opcode and QP number.
  if (keeps_ && rows_ % 4 == 0) {
    const std::uint32_t errors = hexadecimal(words[1]);
    const std::uint32_t request = hexadecimal(words[2]);
    first_ = Error{.syndrome = static_cast<int>(errors & 0xff),
                   .vendor_syndrome = static_cast<int>(errors >> 8 & 0xff),
                   .opcode = static_cast<int>(request >> 24),
                   .qpn = request & 0xffffff,
                   .line = line};
  }
  return true;
}

}  // namespace rocetune::evidence
