#include "tests/places.h"

namespace rocetune {

const std::string& source_root() {
  static const std::string path = ROCETUNE_SOURCE_ROOT;
  return path;
}

const std::string& test_build_folder() {
  static const std::string path = ROCETUNE_TEST_BUILD_FOLDER;
  return path;
}

}  // namespace rocetune
