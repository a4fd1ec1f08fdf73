// Where the tests find their inputs. In one object of its own, so that no other object depends on where the
// tree or the build is: builds then share them.
#pragma once

#include <string>

namespace rocetune {

const std::string& source_root();        // of the repository
const std::string& test_build_folder();  // where the fake parts are built

}  // namespace rocetune
