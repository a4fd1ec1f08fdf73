#include "agent/host/host_files.h"

#include <charconv>

#include "dataplane/base/file.h"

namespace rocetune::host {
namespace {

constexpr std::string_view kNetClass = "/sys/class/net";
constexpr std::string_view kInfinibandClass = "/sys/class/infiniband";
constexpr std::string_view kProcNet = "/proc/net";

// `path` is `prefix` itself or below it.
bool is_below(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

}  // namespace

std::string HostFiles::path(std::string_view host_path) const {
  if (view_ && (is_below(host_path, kNetClass) || is_below(host_path, kInfinibandClass))) {
    return view_->sysfs + std::string(host_path.substr(std::string_view("/sys").size()));
  }
  if (view_ && is_below(host_path, kProcNet)) {
    return view_->proc_net + std::string(host_path.substr(kProcNet.size()));
  }
  return root_(host_path);
}

Expected<std::string> HostFiles::attribute(std::string_view host_path) const {
  return read_attribute(path(host_path));
}

Expected<std::int64_t> HostFiles::integer(std::string_view host_path) const {
  return attribute(host_path).and_then([&](const std::string& text) -> Expected<std::int64_t> {
    const bool is_hex = text.starts_with("0x");
    const char* const begin = text.data() + (is_hex ? 2 : 0);
    const char* const end = text.data() + text.size();
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(begin, end, value, is_hex ? 16 : 10);
    if (error != std::errc() || rest != end) {
      return fail(ErrorKind::io, "{}: found \"{}\", allowed: an integer", host_path, text);
    }
    return value;
  });
}

Expected<std::string> HostFiles::text(std::string_view host_path) const { return read_file(path(host_path)); }

Expected<std::vector<std::string>> HostFiles::names(std::string_view host_path) const {
  return list_directory(path(host_path));
}

Expected<std::string> HostFiles::link_name(std::string_view host_path) const {
  return read_link(path(host_path)).map([](const std::string& target) {
    return std::string(file_name_of(target));
  });
}

Expected<std::string> HostFiles::resolved(std::string_view host_path) const {
  if (path(host_path) == root_(host_path)) return root_.resolved(host_path);
  // In another namespace's sysfs the tree below devices/ is the same as in ours.
  return read_link(path(host_path)).map([](const std::string& target) {
    const std::size_t at = target.find("devices/");
    return at == std::string::npos ? target : "/sys/" + target.substr(at);
  });
}

bool HostFiles::exists(std::string_view host_path) const { return path_exists(path(host_path)); }

}  // namespace rocetune::host
