// The contract of the parts that part_test.cc loads.
#pragma once

#include <string>

#include "dataplane/base/part.h"

namespace rocetune {

// External names: a contract that only one file can see would have no implementation anywhere else, and the
// compiler knows it.
namespace part_name {
inline constexpr char friendly[] = "friendly", stranger[] = "stranger", impostor[] = "impostor",
                      silent[] = "silent", unmarked[] = "unmarked", needy[] = "needy", missing[] = "missing",
                      garbage[] = "garbage";
}  // namespace part_name

template <const char* Name, std::uint32_t Version = 1>
class Greeter {
 public:
  static constexpr PartContract kContract{Name, Version};
  virtual std::string greet(const std::string& whom) = 0;

 protected:
  ~Greeter() = default;
};

}  // namespace rocetune
