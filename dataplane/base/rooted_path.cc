#include "dataplane/base/rooted_path.h"

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "dataplane/base/file.h"

namespace rocetune {
namespace {

// Pushes the components of `path` so that the first is on top.
void push_components(std::vector<std::string>& stack, std::string_view path) {
  std::size_t end = path.size();
  while (end > 0) {
    const std::size_t slash = path.rfind('/', end - 1);
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (begin < end) stack.emplace_back(path.substr(begin, end - begin));
    end = slash == std::string_view::npos ? 0 : slash;
  }
}

bool stays_inside(std::string_view path) {
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos) return false;
  std::vector<std::string> components;
  push_components(components, path);
  for (const std::string& component : components) {
    if (component == "..") return false;
  }
  return true;
}

}  // namespace

bool is_path_component(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

RootedPath::RootedPath(std::string root) : root_(std::move(root)) {
  while (root_.ends_with('/')) root_.pop_back();
}

std::string RootedPath::operator()(std::string_view path) const {
  ROCETUNE_ASSERT(stays_inside(path));
  return root_ + std::string(path);
}

Expected<std::string> RootedPath::checked(std::string_view path) const {
  if (!stays_inside(path)) {
    return fail(ErrorKind::bad_input, "\"{}\" is not an absolute path without \"..\"", path);
  }
  return root_ + std::string(path);
}

Expected<std::string> RootedPath::resolved(std::string_view path) const {
  constexpr int kMostLinks = 40;  // as the kernel's MAXSYMLINKS
  std::vector<std::string> left;
  push_components(left, path);
  std::string at;  // host path walked so far, "" is the root directory
  int links = 0;
  while (!left.empty()) {
    const std::string component = std::move(left.back());
    left.pop_back();
    if (component == ".") continue;
    if (component == "..") {
      at.erase(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    const std::string next = at + "/" + component;
    const auto target = read_link(root_ + next);
    if (!target) {
      if (target.error().os_error() != EINVAL) return tl::unexpected(target.error());  // EINVAL: not a link
      at = next;
      continue;
    }
    if (++links > kMostLinks) return fail_os(ELOOP, "cannot resolve {}", root_ + std::string(path));
    if (target->starts_with('/')) at.clear();
    push_components(left, *target);
  }
  return at.empty() ? std::string("/") : at;
}

}  // namespace rocetune
