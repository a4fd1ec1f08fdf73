#include "agent/evidence/logs/nccl_wording.h"

#include <utility>

#include "agent/evidence/verbs_words.h"
#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

// "12", "IBV_WC_RETRY_EXC_ERR(12)", "IBV_WC_RETRY_EXC_ERR".
std::optional<int> status_behind(std::string_view text, std::string_view mark) {
  const auto rest = behind(text, mark);
  if (!rest) return std::nullopt;
  if (const auto number = leading_integer(*rest)) return static_cast<int>(*number);
  const std::string_view word = rest->substr(0, rest->find_first_of(" \t,"));
  if (const auto open = word.find('('); open != std::string_view::npos) {
    if (const auto number = leading_integer(word.substr(open + 1))) return static_cast<int>(*number);
  }
  return wc_status_in(word);
}

// The number behind "vendor err ", "vendor_err=", "vendor err129".
std::optional<int> vendor_in(std::string_view text) {
  const auto at = text.find("vendor");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + 6);
  const auto digit = rest.find_first_of("0123456789");
  if (digit > 8) return std::nullopt;
  rest.remove_prefix(digit);
  if (rest.starts_with("0x")) {
    const auto number = hexadecimal_behind(rest, "0x");
    return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
  }
  const auto number = leading_integer(rest);
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

// The GID behind "localGid", "remoteGids", "local GID ": key and value may touch.
std::optional<GidText> gid_behind(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + key.size());
  if (rest.starts_with('s')) rest.remove_prefix(1);
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '=')) rest.remove_prefix(1);
  std::string_view word = rest.substr(0, rest.find_first_of(" \t,;)"));
  return GidText::of(word);
}

std::string device_of(std::string_view word) { return std::string(word.substr(0, word.find(':'))); }

}  // namespace

std::optional<FailedCompletion> nccl_completion_of(std::string_view message, Quote quote) {
  const auto rest = behind(message, "Got completion ");
  if (!rest) return std::nullopt;
  auto status = status_behind(*rest, "with error ");
  if (!status) status = status_behind(*rest, "status=");
  if (!status) status = status_behind(*rest, "status ");
  if (!status || *status < 0 || *status > 255) return std::nullopt;
  FailedCompletion out;
  out.quote = std::move(quote);
  out.status = *status;
  out.vendor = vendor_in(*rest);
  out.local = gid_behind(*rest, "localGid");
  out.remote = gid_behind(*rest, "remoteGid");
  out.device = device_of(word_behind(*rest, " hca "));
  return out;
}

std::optional<FailedQpSetup> nccl_qp_setup_of(std::string_view message, Quote quote) {
  const auto rest = behind(message, "ibv_modify_qp failed");
  if (!rest) return std::nullopt;
  FailedQpSetup out;
  out.quote = std::move(quote);
  if (const auto number = integer_behind(*rest, "errno ")) {
    out.error = static_cast<int>(*number);
  } else if (const auto code = integer_behind(*rest, "with ")) {
    out.error = static_cast<int>(*code);
  } else {
    out.error = errno_in(*rest);
  }
  add_qp_setup_details(*rest, out);
  return out;
}

bool add_qp_setup_details(std::string_view text, FailedQpSetup& failed) {
  if (!contains_any(text, {"curr state ", "local GID "})) return false;
  if (failed.device.empty()) failed.device = device_of(word_behind(text, "dev "));
  if (const auto index = integer_behind(text, "local GID index "))
    failed.gid_index = static_cast<int>(*index);
  // "local GID index 2, local GID fd5a:..., remote GID ...": the second is the address.
  const auto index_at = text.find("local GID index ");
  if (auto local =
          gid_behind(index_at == std::string_view::npos ? text : text.substr(index_at + 16), "local GID ")) {
    failed.local = local;
  }
  if (auto remote = gid_behind(text, "remote GID ")) failed.remote = remote;
  return true;
}

std::optional<FailedRegistration> nccl_registration_of(std::string_view message, Quote quote) {
  const bool registers = contains(message, "ibv_reg_");
  if (!registers &&
      !contains_any(message, {"ibv_create_cq failed", "ibv_create_qp failed", "ibv_alloc_pd failed"}))
    return std::nullopt;
  if (!contains(message, "failed")) return std::nullopt;
  FailedRegistration out;
  out.quote = std::move(quote);
  if (const auto number = integer_behind(message, "errno ")) {
    out.error = static_cast<int>(*number);
  } else if (const auto code = integer_behind(message, "failed with ")) {
    out.error = static_cast<int>(*code);
  } else {
    out.error = errno_in(message);
  }
  // Other objects fail for other reasons too; only memory that cannot be locked is meant.
  if (!registers && out.error != 12) return std::nullopt;
  return out;
}

}  // namespace rocetune::evidence
