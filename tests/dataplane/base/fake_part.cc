// One source, several modules: tests/meson.build says by macros what is wrong with each.
#include "tests/dataplane/base/greeter.h"

#ifdef FAKE_VERSION
#undef ROCETUNE_VERSION
#define ROCETUNE_VERSION FAKE_VERSION
#endif

extern "C" int only_in_a_library_that_went_away();

namespace rocetune {
namespace {

class FakeGreeter : public Greeter<part_name::FAKE_NAME> {
 public:
  std::string greet(const std::string& whom) override {
#ifdef FAKE_NEEDS_LIBRARY
    return std::to_string(only_in_a_library_that_went_away());
#else
    return "hello, " + whom;
#endif
  }
};

}  // namespace
}  // namespace rocetune

#ifndef FAKE_SAYS_NOTHING
ROCETUNE_EXPORT_PART(rocetune::Greeter<rocetune::part_name::FAKE_NAME>, rocetune::FakeGreeter);
#endif
