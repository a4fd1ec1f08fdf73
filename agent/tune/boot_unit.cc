#include "agent/tune/boot_unit.h"

#include <unistd.h>

#include <cerrno>

#include "agent/tune/state_directory.h"
#include "dataplane/base/durable.h"
#include "dataplane/base/file.h"
#include "dataplane/base/rooted_path.h"

namespace rocetune::tune {
namespace {

constexpr std::string_view kUnit = "rocetune-boot.service";
constexpr std::string_view kUnits = "/etc/systemd/system";
constexpr std::string_view kWants = "/etc/systemd/system/multi-user.target.wants";

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace

Expected<std::string> program_path() { return read_link("/proc/self/exe"); }

Expected<std::string> boot_unit_text(const std::string& root, const std::string& program,
                                     const std::string& state_directory, const ConfigFiles& files) {
  const RootedPath path(root);
  if (!path_exists(path("/etc/systemd")) && !path_exists(path("/run/systemd/system"))) {
    return fail(ErrorKind::unsupported,
                "this host does not use systemd: run \"rocetune apply --boot\" at boot otherwise");
  }
  for (const std::string_view fleeting : {"/tmp/", "/run/", "/dev/shm/", "/var/tmp/"}) {
    if (program.starts_with(fleeting)) {
      return fail(ErrorKind::bad_input,
                  "{} will not be there after a reboot: copy it to /usr/local/bin first", program);
    }
  }
  if (!state_directory.starts_with('/')) {
    return fail(ErrorKind::bad_input,
                "--state-dir: found {}, allowed: an absolute path, as a unit has no other", state_directory);
  }
  if (program.find_first_of(" \"'\\%$\n") != std::string::npos ||
      state_directory.find_first_of(" \"'\\%$\n") != std::string::npos) {
    return fail(ErrorKind::bad_input, "{} and {} have to be paths that a unit file takes as they are",
                program, state_directory);
  }
  const auto file = files.read("systemd/" + std::string(kUnit));
  if (!file) return tl::unexpected(file.error());
  return replaced(replaced(file->text, "@PROGRAM@", program), "@STATE@", state_directory);
}

Expected<std::string> install_boot_unit(const std::string& root, const std::string& program,
                                        const std::string& state_directory, const ConfigFiles& files) {
  auto unit = boot_unit_text(root, program, state_directory, files);
  if (!unit) return unit;
  const RootedPath path(root);
  const std::string unit_path = path(fmt::format("{}/{}", kUnits, kUnit));
  const std::string link = path(fmt::format("{}/{}", kWants, kUnit));
  if (auto status = create_directories(directory_of(link)); !status) return tl::unexpected(status.error());
  if (auto status = write_atomically(unit_path, *unit); !status) return tl::unexpected(status.error());
  if (::symlink(fmt::format("../{}", kUnit).c_str(), link.c_str()) < 0 && errno != EEXIST) {
    return tl::unexpected(Error(ErrorKind::io, fmt::format("link {}", link), errno));
  }
  if (auto status = sync_directory(directory_of(link)); !status) return tl::unexpected(status.error());
  return unit_path;
}

std::string boot_unit_state_directory(const std::string& root) {
  constexpr std::string_view kFlag = " --state-dir ";
  const auto unit = read_file(RootedPath(root)(fmt::format("{}/{}", kUnits, kUnit)));
  const std::size_t at = unit ? unit->find(kFlag) : std::string::npos;
  if (at == std::string::npos) return std::string(kStateDirectory);
  const std::size_t begin = at + kFlag.size();
  return unit->substr(begin, unit->find('\n', begin) - begin);
}

Expected<> remove_boot_unit(const std::string& root) {
  const RootedPath path(root);
  for (const std::string_view folder : {kWants, kUnits}) {
    auto status = remove_file(path(fmt::format("{}/{}", folder, kUnit)));
    if (!status && status.error().kind() != ErrorKind::absent) return status;
  }
  return {};
}

}  // namespace rocetune::tune
