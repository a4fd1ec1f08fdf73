// The module `friendly`: a part that works.
#include "tests/dataplane/base/greeter.h"

namespace rocetune {
namespace {

class Friendly : public Greeter<part_name::friendly> {
 public:
  std::string greet(const std::string& whom) override { return "hello, " + whom; }
};

}  // namespace
}  // namespace rocetune

ROCETUNE_EXPORT_PART(rocetune::Greeter<rocetune::part_name::friendly>, rocetune::Friendly);
