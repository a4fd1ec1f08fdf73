// Words of verbs in logs: statuses of work completions, errno texts, error completions dumped by libmlx5.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rocetune::evidence {

// enum ibv_wc_status, include/infiniband/verbs.h of rdma-core.
namespace wc {
inline constexpr int kSuccess = 0;
inline constexpr int kLocalLength = 1;
inline constexpr int kLocalProtection = 4;
inline constexpr int kFlushed = 5;
inline constexpr int kRemoteAccess = 10;
inline constexpr int kRetryExceeded = 12;
inline constexpr int kRnrRetryExceeded = 13;
}  // namespace wc

// The status that a line names by ibv_wc_status_str's text or the enumerator ("IBV_WC_RETRY_EXC_ERR"),
// whatever the case of its letters; nothing if it names none.
std::optional<int> wc_status_in(std::string_view text);
// "transport retry counter exceeded" of 12; "unknown status" of what is none.
std::string_view wc_status_text(int status);

// The errno that a text names as strerror does: "Connection timed out" -> 110. Nothing if it names none.
std::optional<int> errno_in(std::string_view text);

// The status that a libmlx5 syndrome becomes (mlx5_handle_error_cqe); nothing for one that it does not know.
std::optional<int> wc_status_of_syndrome(int syndrome);

// An error completion queue entry in hexadecimal: four words a line, four lines (eight for entries of 128 B).
class CqeDump {
 public:
  struct Error {
    int syndrome = 0;
    int vendor_syndrome = 0;
    int opcode = 0;  // of the work request, as the entry repeats it
    std::uint32_t qpn = 0;
    int line = 0;
  };
  // "mlx5: node5: got completion with error:" begins a dump.
  static bool is_head(std::string_view text);
  // Whether the line belongs to a dump; `line`: its number.
  bool take(std::string_view text, int line);
  // The first one that was complete.
  const std::optional<Error>& first() const { return first_; }
  // The host that the head of the latest dump names.
  std::string_view host() const { return {host_.data(), host_size_}; }

 private:
  int rows_ = -1;  // of the dump that is being read; -1: none
  bool keeps_ = false;
  std::optional<Error> first_;
  std::array<char, 64> host_{};
  std::size_t host_size_ = 0;
};

}  // namespace rocetune::evidence
