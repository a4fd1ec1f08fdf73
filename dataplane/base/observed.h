// A fact about the outside world: known, or not known and why. Absent is not zero.
#pragma once

#include <string>
#include <utility>

#include "dataplane/base/error.h"

namespace rocetune {

// Why a fact is not known.
struct Unavailable {
  enum class Kind {
    absent,    // the interface does not exist here: this kernel, this driver, this NIC, this mode
    denied,    // it exists and we may not: permission, lockdown, namespace
    failed,    // it exists, we may, and the read failed or made no sense
    not_read,  // nobody looked (a snapshot without this part, a reader that was switched off)
  };
  Kind kind = Kind::not_read;
  std::string why;
  bool operator==(const Unavailable&) const = default;
};

// A value, or the reason why there is none.
template <class T>
using Observed = tl::expected<T, Unavailable>;

inline tl::unexpected<Unavailable> absent(std::string why) {
  return tl::unexpected(Unavailable{Unavailable::Kind::absent, std::move(why)});
}
inline tl::unexpected<Unavailable> denied(std::string why) {
  return tl::unexpected(Unavailable{Unavailable::Kind::denied, std::move(why)});
}
inline tl::unexpected<Unavailable> failed(std::string why) {
  return tl::unexpected(Unavailable{Unavailable::Kind::failed, std::move(why)});
}
inline tl::unexpected<Unavailable> not_read() {
  return tl::unexpected(Unavailable{Unavailable::Kind::not_read, "not read"});
}
// The reading half of an Error: absent and unsupported stay absent, denied stays denied, the rest is failed.
inline tl::unexpected<Unavailable> unavailable(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::absent:
    case ErrorKind::unsupported:
      return absent(error.text());
    case ErrorKind::denied:
      return denied(error.text());
    default:
      return failed(error.text());
  }
}

}  // namespace rocetune
