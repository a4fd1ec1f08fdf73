// The systemd unit that brings the confirmed state back after a reboot.
#pragma once

#include <string>

#include "dataplane/base/config_files.h"
#include "dataplane/base/error.h"

namespace rocetune::tune {

// Writes the unit with the running program's path in it and enables it, below `root`. Idempotent. Errors:
// denied, io; unsupported where systemd is not used; bad_input if the program lies in a place that a reboot
// or another user may empty (/tmp, /run, /dev/shm).
Expected<std::string> install_boot_unit(const std::string& root, const std::string& program,
                                        const std::string& state_directory, const ConfigFiles& files);
// Removes it again. Absent is no error.
Expected<> remove_boot_unit(const std::string& root);
// Where the running program lies.
Expected<std::string> program_path();

}  // namespace rocetune::tune
