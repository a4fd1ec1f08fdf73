#include "dataplane/base/config_files.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "dataplane/base/file.h"

namespace rocetune {
namespace {

namespace fs = std::filesystem;

Expected<ConfigFile> read_user_file(const fs::path& file, const std::string& path) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail_os(errno, "{}", file.string());
  ConfigFile out{.path = path, .name = file.string(), .text = {std::istreambuf_iterator<char>(in), {}}};
  if (in.bad()) return fail(ErrorKind::io, "{}: read failed", file.string());
  return out;
}

constexpr std::string_view kBuiltIn = "built-in ";  // before its path: the name of a built-in file

ConfigFile built_in(const detail::EmbeddedFile& file) {
  return {std::string(file.path), fmt::format("{}{}", kBuiltIn, file.path), std::string(file.text)};
}

}  // namespace

Expected<ConfigFiles> ConfigFiles::with_directory(const std::string& directory) {
  std::error_code error;
  if (!directory.empty() && !fs::is_directory(directory, error)) {
    return fail(ErrorKind::bad_input, "--config-dir: found {}, allowed: a folder laid out like configs/{}",
                directory, error ? fmt::format(" ({})", error.message()) : "");
  }
  ConfigFiles files;
  files.directory_ = directory;
  return files;
}

Expected<ConfigFile> ConfigFiles::read(const std::string& path) const {
  if (!directory_.empty()) {
    std::error_code error;
    const fs::path file = fs::path(directory_) / path;
    if (fs::exists(file, error)) return read_user_file(file, path);
  }
  std::vector<std::string> known;
  for (const detail::EmbeddedFile& file : detail::embedded_files()) {
    if (file.path == path) return built_in(file);
    known.emplace_back(file.path);
  }
  const std::string nearest = nearest_name(path, known);
  return fail(ErrorKind::bad_input, "no configuration file {}{}", path,
              nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

Expected<std::vector<ConfigFile>> ConfigFiles::list(std::string_view folder,
                                                    std::string_view extension) const {
  const auto belongs = [&](const fs::path& path) {
    return path.parent_path() == fs::path(folder) && path.extension() == fs::path(extension);
  };
  std::map<std::string, ConfigFile> by_path;
  for (const detail::EmbeddedFile& file : detail::embedded_files()) {
    if (belongs(file.path)) by_path[std::string(file.path)] = built_in(file);
  }
  std::error_code error;
  if (const fs::path own = fs::path(directory_) / folder;
      !directory_.empty() && fs::is_directory(own, error)) {
    for (const auto& entry : fs::directory_iterator(own, error)) {
      const std::string path = (fs::path(folder) / entry.path().filename()).string();
      if (!belongs(path)) continue;
      auto file = read_user_file(entry.path(), path);
      if (!file) return tl::unexpected(file.error());
      by_path[path] = std::move(*file);
    }
    if (error) return fail_os(error.value(), "{}", own.string());
  }
  std::vector<ConfigFile> out;
  for (auto& [path, file] : by_path) out.push_back(std::move(file));
  return out;
}

Expected<ConfigFile> read_beside(const std::string& name, const std::string& path, Bytes limit) {
  const fs::path beside(path);
  if (name.starts_with(kBuiltIn) && beside.is_relative()) {
    const fs::path folder = fs::path(name.substr(kBuiltIn.size())).parent_path();
    return ConfigFiles().read((folder / beside).lexically_normal().string());
  }
  const std::string found = beside.is_relative() ? directory_of(name) + "/" + path : path;
  return read_file(found, limit).map([&](std::string&& text) {
    return ConfigFile{.path = path, .name = found, .text = std::move(text)};
  });
}

Expected<std::vector<std::string>> ConfigFiles::names(const NamedFiles& files) const {
  std::vector<std::string> folders{std::string(files.folder)};
  for (const std::string_view within : files.within)
    folders.push_back(fmt::format("{}/{}", files.folder, within));
  std::vector<std::string> out;
  for (const std::string& folder : folders) {
    const auto found = list(folder, files.extension);
    if (!found) return tl::unexpected(found.error());
    for (const ConfigFile& file : *found) {
      const std::size_t begin = files.folder.size() + 1;
      out.push_back(file.path.substr(begin, file.path.size() - begin - files.extension.size()));
    }
  }
  return out;
}

Expected<ConfigFile> ConfigFiles::named(const NamedFiles& files, const std::string& name_or_path,
                                        std::string_view what, Bytes limit) const {
  const auto known = names(files);
  if (!known) return tl::unexpected(known.error());
  if (std::ranges::find(*known, name_or_path) != known->end())
    return read(fmt::format("{}/{}{}", files.folder, name_or_path, files.extension));
  if (name_or_path.ends_with(files.extension) || name_or_path.find('/') != std::string::npos) {
    const auto text = read_file(name_or_path, limit);
    if (!text) return tl::unexpected(Error(ErrorKind::bad_input, text.error().text()));
    return ConfigFile{.path = name_or_path, .name = name_or_path, .text = *text};
  }
  std::string all;
  for (const std::string& name : *known) all += (all.empty() ? "" : ", ") + name;
  const std::string nearest = nearest_name(name_or_path, *known);
  return fail(ErrorKind::bad_input, "{}: found {}, allowed: {} or the path of a file{}", what, name_or_path,
              all, nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

}  // namespace rocetune
