// Other network namespaces of the running host: NICs moved into containers and pods live there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/host/host_files.h"

namespace rocetune::host {

struct NetworkNamespace {
  std::string name;  // "blue" of /run/netns/blue, else "pid 1234" of the first process in it
  std::string path;  // to open: "/run/netns/blue", "/proc/1234/ns/net"
};

// Every network namespace but the caller's, each once, named ones first.
struct NamespaceSurvey {
  std::vector<NetworkNamespace> others;
  int hidden_processes = 0;  // whose namespace we may not know; it may be one of the others
};
Expected<NamespaceSurvey> survey_namespaces(const HostFiles& files);

// Runs `work` in a thread of its own inside the namespace and waits for it. The thread sees that namespace's
// class/net by a sysfs of its own, which is mounted nowhere. Errors: absent if the namespace went away;
// denied without CAP_SYS_ADMIN; unsupported on kernels before 5.2.
Expected<> in_namespace(const std::string& path, const std::function<void(const NamespaceView&)>& work);

}  // namespace rocetune::host
