// The host's /sys, /proc, debugfs and configfs, from a root directory and for one network namespace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/base/observed.h"
#include "dataplane/base/rooted_path.h"

namespace rocetune::host {

// Another network namespace's view: where its sysfs is mounted and its /proc/<pid>/net lies, both as paths to
// open.
struct NamespaceView {
  std::string sysfs;     // has class/net and class/infiniband of that namespace
  std::string proc_net;  // "/proc/thread-self/net"
};

class HostFiles {
 public:
  explicit HostFiles(std::string root = "/") : root_(std::move(root)) {}
  HostFiles(std::string root, NamespaceView view) : root_(std::move(root)), view_(std::move(view)) {}

  // The path to open for a host path such as "/sys/class/net/eth0/mtu".
  std::string path(std::string_view host_path) const;
  const RootedPath& root() const { return root_; }

  // One attribute without the blanks at its end. Errors: absent, denied (with the reason: permission or
  // kernel lockdown), io.
  Expected<std::string> attribute(std::string_view host_path) const;
  // A decimal or 0x-hexadecimal integer. Errors: as attribute; io if it is none.
  Expected<std::int64_t> integer(std::string_view host_path) const;
  // The whole file with its newlines.
  Expected<std::string> text(std::string_view host_path) const;
  // Names in a directory, sorted.
  Expected<std::vector<std::string>> names(std::string_view host_path) const;
  // The last component of a symbolic link's text: "mlx5_core" of .../driver.
  Expected<std::string> link_name(std::string_view host_path) const;
  // The host path a link leads to, all links followed: "/sys/devices/pci0000:00/0000:00:01.0".
  Expected<std::string> resolved(std::string_view host_path) const;
  bool exists(std::string_view host_path) const;

 private:
  RootedPath root_;
  std::optional<NamespaceView> view_;
};

// A value that may be missing without being remarkable: errors become nothing.
template <class T>
std::optional<T> if_known(const Expected<T>& value) {
  return value ? std::optional<T>(*value) : std::nullopt;
}
// An attribute as an observed fact.
template <class T>
Observed<T> observed(const Expected<T>& value) {
  if (value) return *value;
  return unavailable(value.error());
}

}  // namespace rocetune::host
