#include "agent/host/host_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "agent/host/bonding.h"
#include "agent/host/congestion_files.h"
#include "agent/host/namespaces.h"
#include "agent/host/platform.h"

namespace rocetune::host {
namespace {

constexpr std::string_view kBootId = "/proc/sys/kernel/random/boot_id";
constexpr std::string_view kRecording = "/kernel.json";

// Where a tree's kernel answers come from.
enum class Source { running_kernel, recording, none };

Source source_of(const HostFiles& files) {
  if (files.root().root().empty() || files.root().root() == "/") return Source::running_kernel;
  if (files.exists(kRecording)) return Source::recording;
  const auto theirs = files.attribute(kBootId);
  const auto ours = HostFiles().attribute(kBootId);
  return theirs && ours && *theirs == *ours ? Source::running_kernel : Source::none;
}

KernelAnswers no_answers(const std::string& root) {
  const auto why = absent(fmt::format("{} is not the running host and has no kernel.json", root));
  KernelAnswers out;
  out.links = why;
  out.addresses = why;
  out.routes = why;
  out.rdma = why;
  out.rdma_namespaces_exclusive = why;
  out.devlink = why;
  return out;
}

// Adds the ports and bonds of another namespace; one that we may not enter is said to be unseen.
void add_namespace(const NetworkNamespace& space, const std::string& root, const NicTable& nics, Host& out) {
  const auto status = in_namespace(space.path, [&](const NamespaceView& view) {
    const HostFiles files(root, view);
    const KernelAnswers kernel = ask_kernel();
    const std::vector<Bond> bonds = read_bonds(files);
    for (Port& port : read_ports(files, kernel, nics, out.lockdown, bonds)) {
      port.network_namespace = space.name;
      // What a software RDMA device or a bond of a pod stands on is that pod's business unless a NIC is in
      // it.
      out.ports.push_back(std::move(port));
    }
    out.bonds.insert(out.bonds.end(), bonds.begin(), bonds.end());
  });
  // One that ended meanwhile has no NICs any more.
  if (!status && status.error().kind() != ErrorKind::absent) {
    out.unseen_namespaces->push_back(fmt::format("{} ({})", space.name, status.error().text()));
  }
}

void add_other_namespaces(const HostFiles& files, const std::string& root, const NicTable& nics, Host& out) {
  const auto survey = survey_namespaces(files);
  if (!survey) {
    out.unseen_namespaces = unavailable(survey.error());
    return;
  }
  out.unseen_namespaces = std::vector<std::string>();
  for (const NetworkNamespace& space : survey->others) add_namespace(space, root, nics, out);
  if (survey->hidden_processes > 0) {
    out.unseen_namespaces->push_back(
        fmt::format("those of {} process{} (permission: only root may know them)", survey->hidden_processes,
                    survey->hidden_processes == 1 ? "" : "es"));
  }
}

Expected<Host> read_one_namespace(const HostFiles& files, const ReadOptions& options, const NicTable& nics) {
  const std::string& wanted = *options.network_namespace;
  const bool is_path = wanted.find('/') != std::string::npos;
  const NetworkNamespace space{wanted, is_path ? wanted : files.path("/run/netns/" + wanted)};
  Host out;
  const auto status = in_namespace(space.path, [&](const NamespaceView& view) {
    out = read_host_from(HostFiles(options.root, view), ask_kernel(), nics);
  });
  if (!status && status.error().kind() == ErrorKind::absent) {
    std::vector<std::string> names = if_known(files.names("/run/netns")).value_or(std::vector<std::string>{});
    const std::string nearest = nearest_name(wanted, names);
    return fail(ErrorKind::bad_input, "--netns: found {}, allowed: a name in /run/netns or a path{}", wanted,
                nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
  }
  if (!status) return tl::unexpected(status.error());
  for (Port& port : out.ports) port.network_namespace = space.name;
  return out;
}

std::int64_t unix_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Host read_host_from(const HostFiles& files, const KernelAnswers& kernel, const NicTable& nics) {
  Host out;
  out.taken_at_unix_ns = unix_nanoseconds();
  out.lockdown = read_lockdown(files);
  read_platform(files, kernel, out);
  out.affinity = absent("the topology part is not loaded");
  out.bonds = read_bonds(files);
  out.ports = read_ports(files, kernel, nics, out.lockdown, out.bonds);
  return out;
}

Expected<Host> read_host(const ReadOptions& options, const NicTable& nics) {
  struct stat info {};
  if (stat(options.root.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return fail(ErrorKind::bad_input, "--root: found {}, allowed: a folder with the host's sys and proc",
                options.root);
  }
  const HostFiles files(options.root);
  const Source source = source_of(files);
  if (options.network_namespace && source != Source::running_kernel) {
    return fail(ErrorKind::bad_input, "--netns: found {}, allowed: only with the running host",
                *options.network_namespace);
  }
  if (options.network_namespace) return read_one_namespace(files, options, nics);
  if (source == Source::none) return read_host_from(files, no_answers(options.root), nics);
  if (source == Source::recording) {
    return files.text(kRecording)
        .and_then(
            [&](const std::string& text) { return kernel_answers_from_json(text, files.path(kRecording)); })
        .map([&](const KernelAnswers& kernel) { return read_host_from(files, kernel, nics); });
  }
  Host out = read_host_from(files, ask_kernel(), nics);
  add_other_namespaces(files, options.root, nics, out);
  sort_ports(out.ports);
  return out;
}

}  // namespace rocetune::host
