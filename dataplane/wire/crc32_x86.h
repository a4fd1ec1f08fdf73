#pragma once

#include "dataplane/wire/crc32.h"

namespace rocetune::wire::crc32 {

// By carry-less multiplication, slowest first. Only on x86-64.
std::array<Crc32Method, 3> x86_methods();

}  // namespace rocetune::wire::crc32
