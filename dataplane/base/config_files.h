// The data files of configs/ (NIC rows, counter tables, profiles, units): built into the program, so that it
// works when merely copied, and overridden file by file from a folder of the user's (--config-dir).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/file.h"

namespace rocetune {

struct ConfigFile {
  std::string path;  // relative to configs/: "nics/mlx5.toml"
  std::string name;  // for messages: the file's path, or "built-in nics/mlx5.toml"
  std::string text;
};

// Files that people call by a name: those of `folder` without folder and extension ("incast-pfc"), and those
// of folders within it with theirs ("reference/incast2").
struct NamedFiles {
  std::string_view folder;
  std::string_view extension;  // ".toml"
  std::vector<std::string_view> within = {};
};

class ConfigFiles {
 public:
  // Only what is built in.
  ConfigFiles() = default;
  // With a folder of the same layout: its files replace built-in ones of the same path and add new ones.
  // Empty: none is given, only what is built in.
  // Error: bad_input if `directory` is no readable folder.
  static Expected<ConfigFiles> with_directory(const std::string& directory);

  // One file by its path relative to configs/. Errors: bad_input with the nearest known name; as the system
  // refused for a file of the user's.
  Expected<ConfigFile> read(const std::string& path) const;
  // All files of one folder ("nics") and one extension (".toml"), subfolders excluded, by path.
  Expected<std::vector<ConfigFile>> list(std::string_view folder, std::string_view extension) const;
  // By folder, in each by name.
  Expected<std::vector<std::string>> names(const NamedFiles& files) const;
  // One of them by name; else, with a slash or the extension in it, a file of at most `limit` by its path.
  // Errors: bad_input, with all names and the nearest; `what` says which argument it was ("--profile").
  Expected<ConfigFile> named(const NamedFiles& files, const std::string& name_or_path, std::string_view what,
                             Bytes limit = kReadLimit) const;

 private:
  std::string directory_;  // empty: none
};

// A file that another one names, relative to where that one stands: for a built-in one another built-in file,
// else a file in its folder. `name`: that of the ConfigFile, or the path of a file; `path`: an absolute one
// stands for itself. Errors: as ConfigFiles::read and read_file have them.
Expected<ConfigFile> read_beside(const std::string& name, const std::string& path, Bytes limit);

namespace detail {
struct EmbeddedFile {
  std::string_view path;
  std::string_view text;
};
std::span<const EmbeddedFile> embedded_files();
}  // namespace detail

}  // namespace rocetune
