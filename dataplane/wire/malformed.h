// Why bytes are not the header they should be: counted, never logged.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>

#include "dataplane/base/reflect.h"

namespace rocetune::wire {

enum class Malformed : std::uint8_t {
  truncated,    // fewer bytes than the header needs
  bad_version,  // IP or transport version
  bad_length,   // a length field that contradicts another or the frame
  fragment,     // an IP fragment: RoCE is never fragmented
  not_roce,     // another protocol
};

template <class T>
using Decoded = tl::expected<T, Malformed>;

inline tl::unexpected<Malformed> malformed(Malformed why) { return tl::unexpected(why); }

}  // namespace rocetune::wire

namespace rocetune {
ROCETUNE_ENUM(wire::Malformed, P{E::truncated, "truncated"}, P{E::bad_version, "bad_version"},
              P{E::bad_length, "bad_length"}, P{E::fragment, "fragment"}, P{E::not_roce, "not_roce"});
}  // namespace rocetune
