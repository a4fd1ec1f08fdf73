#include "dataplane/base/part.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "dataplane/base/file.h"

namespace rocetune {
namespace {

std::string last_loader_message() {
  const char* message = dlerror();
  return message == nullptr ? "the dynamic loader gave no reason" : message;
}

// The module that would be loaded, or an absent error that names every folder looked at.
Expected<std::string> find_module(const std::string& file_name, const std::vector<std::string>& search_path) {
  std::string looked_at;
  for (const std::string& folder : search_path) {
    if (std::string file = folder + "/" + file_name; path_exists(file)) return file;
    looked_at += (looked_at.empty() ? "" : ", ") + folder;
  }
  return fail(ErrorKind::absent, "{} is in none of: {}", file_name,
              looked_at.empty() ? "(no folder to look in)" : looked_at);
}

struct Module {
  std::string file;
  const RocetunePartDescriptor* descriptor;
};

// Opens the module called `name` and makes sure that it is this project's, of this version.
Expected<Module> open_module(const char* name, const std::vector<std::string>& search_path) {
  const Expected<std::string> file = find_module(fmt::format("librocetune-{}.so", name), search_path);
  if (!file) return tl::unexpected(file.error());
  // RTLD_NOW: a symbol or library that is missing must show here, not in the middle of a measurement.
  void* module = dlopen(file->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return fail(ErrorKind::unsupported, "{}: {}", *file, last_loader_message());
  const auto* descriptor = static_cast<const RocetunePartDescriptor*>(dlsym(module, "rocetune_part"));
  if (descriptor == nullptr || descriptor->magic != kPartMagic) {
    return fail(ErrorKind::unsupported, "{}: no part of rocetune: it has no description of itself", *file);
  }
  if (std::strcmp(descriptor->name, name) != 0) {
    return fail(ErrorKind::unsupported, "{}: it is the part {}, not {}", *file, descriptor->name, name);
  }
  if (std::strcmp(descriptor->project_version, ROCETUNE_VERSION) != 0) {
    return fail(ErrorKind::unsupported, "{}: it belongs to rocetune {}, this is {}", *file,
                descriptor->project_version, ROCETUNE_VERSION);
  }
  return Module{*file, descriptor};
}

// The parts of this version. The module that implements one names it again in its contract.
struct KnownPart {
  const char* name;
  const char* purpose;
};
constexpr std::array kKnownParts{
    KnownPart{"dpdk", "packets at line rate from user space"},
    KnownPart{"topology", "distances between NICs, GPUs, memory and cores"},
    KnownPart{"verbs", "RDMA device limits and hardware queue pairs"},
};

}  // namespace

std::vector<std::string> part_search_path() {
  if (const char* folder = secure_getenv("ROCETUNE_PART_DIR"); folder != nullptr && *folder != '\0') {
    return {folder};
  }
  std::vector<std::string> folders;
  if (const Expected<std::string> executable = read_link("/proc/self/exe")) {
    folders = {directory_of(*executable) + "/parts", directory_of(*executable)};
  }
  folders.emplace_back(ROCETUNE_INSTALLED_PART_DIR);
  return folders;
}

Expected<LoadedPart> load_part(const PartContract& contract, const std::vector<std::string>& search_path) {
  const Expected<Module> module = open_module(contract.name, search_path);
  if (!module) return tl::unexpected(module.error());
  if (module->descriptor->contract_version != contract.version) {
    return fail(ErrorKind::unsupported, "{}: it speaks version {} of its contract, this program {}",
                module->file, module->descriptor->contract_version, contract.version);
  }
  return LoadedPart{module->file, module->descriptor->contract()};
}

std::vector<PartStatus> survey_parts(const std::vector<std::string>& search_path) {
  std::vector<PartStatus> statuses;
  for (const auto& [name, purpose] : kKnownParts) {
    PartStatus status{.name = name, .purpose = purpose, .file = std::nullopt, .why = ""};
    if (const Expected<Module> module = open_module(name, search_path)) {
      status.state = PartStatus::State::usable;
      status.file = module->file;
    } else {
      const bool is_absent = module.error().kind() == ErrorKind::absent;
      status.state = is_absent ? PartStatus::State::absent : PartStatus::State::unusable;
      status.why = module.error().text();
    }
    statuses.push_back(std::move(status));
  }
  return statuses;
}

}  // namespace rocetune
