// The host's file system as seen from a root directory: "/" on a live host, a container's view of its host, a
// fixture tree in tests. Paths inside are absolute host paths; nothing leads out of the root.
#pragma once

#include <string>
#include <string_view>

#include "dataplane/base/error.h"

namespace rocetune {

class RootedPath {
 public:
  explicit RootedPath(std::string root = "/");
  const std::string& root() const { return root_; }

  // root + path, to open. `path` is absolute and ours: a ".." component, or none at the front, is a
  // programmer's mistake.
  std::string operator()(std::string_view path) const;
  // The same for a path that is partly somebody else's data. Error: bad_input.
  Expected<std::string> checked(std::string_view path) const;

  // The host path (absolute, without the root) that `path` leads to when all symbolic links are followed,
  // with absolute links and ".." taken inside the root. Errors: absent, denied, io (a loop of links).
  Expected<std::string> resolved(std::string_view path) const;

 private:
  std::string root_;  // without a slash at the end
};

// A name that can stand between two slashes: not empty, not "." or "..", no slash, no NUL.
bool is_path_component(std::string_view name);

}  // namespace rocetune
