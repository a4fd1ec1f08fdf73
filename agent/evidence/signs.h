// What logs of any program say about verbs in the same sense: failed completions, queue pairs that could not
// be set up, memory that could not be registered, GIDs that were used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/evidence/document.h"
#include "agent/evidence/gid_text.h"
#include "agent/evidence/verbs_words.h"

namespace rocetune::evidence {

// A line worth showing.
struct Quote {
  std::string text;  // the first kLongest bytes
  int line = 0;
  std::string host;  // that the line names; empty: none
  static constexpr std::size_t kLongest = 400;

  Quote() = default;
  Quote(std::string_view whole, int number, std::string_view by = {})
      : text(whole.substr(0, kLongest)), line(number), host(by) {}
};

// All are counted, the first few are kept: logs are long.
template <class T>
struct Few {
  static constexpr std::size_t kKept = 24;
  std::uint64_t total = 0;
  std::vector<T> first;

  void add(T value) {
    ++total;
    if (first.size() < kKept) first.push_back(std::move(value));
  }
  bool has_room() const { return first.size() < kKept; }
  bool empty() const { return total == 0; }
};

struct FailedCompletion {
  Quote quote;
  int status = 0;             // enum ibv_wc_status
  std::optional<int> vendor;  // as printed, decimal
  std::string device;         // "mlx5_0"; empty: not said
  std::optional<GidText> local, remote;
  std::optional<int> sgid_index;
  std::optional<int> traffic_class;
  bool is_first_request = false;  // nothing was ever acknowledged before it
  bool is_later_request = false;  // others were; neither: not known
  bool is_infiniband = false;     // the line says "/IB" or names LIDs
};

struct FailedQpSetup {
  Quote quote;
  std::optional<int> error;  // errno
  std::string device;
  std::optional<int> gid_index;
  std::optional<GidText> local, remote;
};

struct FailedRegistration {
  Quote quote;
  std::optional<int> error;  // errno
};

// A GID that a program says it uses itself.
struct UsedGid {
  Quote quote;
  std::string device;
  std::optional<int> index;
  GidText gid;
};

struct Signs {
  Few<FailedCompletion> completions;
  std::array<std::uint64_t, 32> by_status{};  // how often each
  Few<FailedQpSetup> qp_setups;
  Few<FailedRegistration> registrations;
  Few<UsedGid> gids;
  Few<Quote> no_rdma;           // RDMA is not to be had or not used: another transport takes over
  Few<Quote> missing_provider;  // libibverbs: no driver, another ABI
  Few<Quote> tcp_control;       // the program's own TCP connection failed: no RDMA packet was tried
  Few<Quote> other_errors;      // said to be about RDMA, cause not told

  void add(FailedCompletion completion) {
    if (completion.status >= 0 && completion.status < static_cast<int>(by_status.size())) {
      ++by_status[static_cast<std::size_t>(completion.status)];
    }
    completions.add(std::move(completion));
  }
};

// cqe.syndrome, cqe.vendor_syndrome, cqe.qpn.
inline void add_facts_of(const CqeDump::Error& cqe, Document& document) {
  document.add_fact("cqe.syndrome", cqe.syndrome);
  document.add_fact("cqe.vendor_syndrome", cqe.vendor_syndrome);
  document.add_fact("cqe.qpn", cqe.qpn);
}

// wc.status and wc.vendor_err of the first failed completion, if there is one.
inline void add_completion_facts(const Signs& signs, Document& document) {
  if (signs.completions.empty()) return;
  const FailedCompletion& first = signs.completions.first.front();
  document.add_fact("wc.status", first.status);
  if (first.vendor) document.add_fact("wc.vendor_err", *first.vendor);
}

// The failed completion that an error CQE is, where no program says it in words; nothing for a syndrome that
// is not known.
inline void add_completion_of(const CqeDump::Error& cqe, Signs& signs) {
  const auto status = wc_status_of_syndrome(cqe.syndrome);
  if (!status) return;
  FailedCompletion failed;
  failed.quote = Quote("error CQE: " + std::string(wc_status_text(*status)), cqe.line);
  failed.status = *status;
  failed.vendor = cqe.vendor_syndrome;
  signs.add(std::move(failed));
}

}  // namespace rocetune::evidence
