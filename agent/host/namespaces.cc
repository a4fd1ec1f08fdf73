#include "agent/host/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "dataplane/base/file.h"

namespace rocetune::host {
namespace {

// fsopen(2) and its like have no wrappers in Debian 12's glibc headers for C++ use; numbers and constants as
// in include/uapi/linux/mount.h.
constexpr unsigned kFsOpenCloseOnExec = 1, kFsConfigCreate = 6, kFsMountCloseOnExec = 1;

using Identity = std::pair<dev_t, ino_t>;

std::optional<Identity> identity_of(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return Identity{info.st_dev, info.st_ino};
}

bool is_process(const std::string& name) { return name.find_first_not_of("0123456789") == std::string::npos; }

// A sysfs of the calling thread's network namespace, attached nowhere.
Expected<Descriptor> private_sysfs() {
  const Descriptor context(static_cast<int>(syscall(SYS_fsopen, "sysfs", kFsOpenCloseOnExec)));
  if (!context.is_open()) return fail_os(errno, "fsopen sysfs");
  if (syscall(SYS_fsconfig, context.fd(), kFsConfigCreate, nullptr, nullptr, 0) != 0) {
    return fail_os(errno, "create sysfs of the namespace");
  }
  Descriptor mount(static_cast<int>(syscall(SYS_fsmount, context.fd(), kFsMountCloseOnExec, MS_RDONLY)));
  if (!mount.is_open()) return fail_os(errno, "fsmount sysfs");
  return mount;
}

Expected<> enter_and_work(int target, const std::function<void(const NamespaceView&)>& work) {
  if (setns(target, CLONE_NEWNET) != 0) return fail_os(errno, "enter the namespace");
  const auto sysfs = private_sysfs();
  if (!sysfs) return tl::unexpected(sysfs.error());
  work({.sysfs = fmt::format("/proc/self/fd/{}", sysfs->fd()), .proc_net = "/proc/thread-self/net"});
  return {};
}

}  // namespace

Expected<NamespaceSurvey> survey_namespaces(const HostFiles& files) {
  NamespaceSurvey out;
  std::set<Identity> seen;
  const auto own = identity_of("/proc/self/ns/net");
  if (!own) return fail_os(errno, "/proc/self/ns/net");
  seen.insert(*own);
  const auto consider = [&](const std::string& name, const std::string& path) {
    const auto identity = identity_of(path);
    if (!identity) {
      if (errno == EACCES || errno == EPERM) ++out.hidden_processes;
      return;
    }
    if (seen.insert(*identity).second) out.others.push_back({name, path});
  };
  if (const auto named = files.names("/run/netns")) {
    for (const std::string& name : *named) consider(name, files.path("/run/netns/" + name));
  }
  const auto processes = files.names("/proc");
  if (!processes) return tl::unexpected(processes.error());
  for (const std::string& name : *processes) {
    if (is_process(name)) consider("pid " + name, files.path(fmt::format("/proc/{}/ns/net", name)));
  }
  return out;
}

Expected<> in_namespace(const std::string& path, const std::function<void(const NamespaceView&)>& work) {
  const Descriptor target(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!target.is_open()) return fail_os(errno, "network namespace {}", path);
  Expected<> status;
  // setns concerns the calling thread only; this one ends with its work.
  std::thread([&] { status = enter_and_work(target.fd(), work); }).join();
  return status.map_error([&](const Error& error) { return error.within("network namespace " + path); });
}

}  // namespace rocetune::host
