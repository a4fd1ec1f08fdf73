// The systemd unit that brings the confirmed state back after a reboot.
#pragma once

#include <string>

#include "dataplane/base/config_files.h"
#include "dataplane/base/error.h"

namespace rocetune::tune {

// The unit's text with these paths in it; writes nothing. Errors: unsupported where systemd is not used;
// bad_input if the program lies in a place that a reboot or another user may empty (/tmp, /run, /dev/shm), or
// a path is not one that a unit file takes as it is.
Expected<std::string> boot_unit_text(const std::string& root, const std::string& program,
                                     const std::string& state_directory, const ConfigFiles& files);
// Writes that unit and enables it, below `root`; returns its path. Idempotent. Errors: the same; denied, io.
Expected<std::string> install_boot_unit(const std::string& root, const std::string& program,
                                        const std::string& state_directory, const ConfigFiles& files);
// Removes it again. Absent is no error.
Expected<> remove_boot_unit(const std::string& root);
// Where a unit that is installed below `root` has its journal; without one kStateDirectory.
std::string boot_unit_state_directory(const std::string& root);
// Where the running program lies.
Expected<std::string> program_path();

}  // namespace rocetune::tune
