#include "dataplane/port/dpdk/eal_arguments.h"

#include <algorithm>

namespace rocetune::dpdk {
namespace {

// EAL's short options take their value in the same word or in the next.
bool is_option(std::string_view word, std::string_view name) {
  if (!word.starts_with(name)) return false;
  const bool is_long = name.starts_with("--");
  const bool next_is_dash = word.starts_with("--") && !is_long;
  return !next_is_dash && (word.size() == name.size() || !is_long || word[name.size()] == '=');
}

// What a virtual device's arguments say about `key`: of "net_vhost0,iface=/tmp/a.sock" about iface,
// "/tmp/a.sock".
std::string_view option_of(std::string_view device, std::string_view key) {
  while (!device.empty()) {
    const std::size_t end = std::min(device.find(','), device.size());
    const std::string_view option = device.substr(0, end);
    if (option.starts_with(key) && option.substr(key.size()).starts_with('=')) {
      return option.substr(key.size() + 1);
    }
    device.remove_prefix(std::min(end + 1, device.size()));
  }
  return {};
}

}  // namespace

Expected<std::vector<std::string>> split_arguments(std::string_view text, const std::string& source) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      if (!in_word) words.emplace_back();
      in_word = true;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
    } else {
      if (!in_word) words.emplace_back();
      in_word = true;
      words.back() += c;
    }
  }
  if (quote != 0) {
    return tl::unexpected(
        bad_input({{{source}, "", std::string(text), std::string("a second ") + quote, ""}}));
  }
  return words;
}

bool has_option(const std::vector<std::string>& arguments, std::string_view name) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& word) { return is_option(word, name); });
}

bool is_memif_client(std::string_view text, std::string_view name) {
  if (!name.starts_with("net_memif")) return false;
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return false;
  const std::string_view device = text.substr(at, text.find_first_of(" \t\n'\"", at) - at);
  return device.find("role=server") == std::string_view::npos &&
         device.find("role=master") == std::string_view::npos;
}

std::vector<std::string> server_sockets(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  for (const std::string& word : arguments) {
    const std::string_view options = std::string_view(word).substr(std::min(word.find("net_"), word.size()));
    std::string_view path;
    if (options.starts_with("net_memif")) {
      const bool is_server = !is_memif_client(options, options.substr(0, options.find(',')));
      if (is_server && option_of(options, "socket-abstract") == "no") path = option_of(options, "socket");
    } else if (options.starts_with("net_vhost")) {
      if (option_of(options, "client") != "1") path = option_of(options, "iface");
    } else if (options.starts_with("net_virtio_user")) {
      if (option_of(options, "server") == "1") path = option_of(options, "path");
    }
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

std::vector<std::string> pcap_interfaces(std::string_view options) {
  std::vector<std::string> names;
  while (!options.empty()) {
    const std::string_view option = options.substr(0, options.find(','));
    options.remove_prefix(std::min(option.size() + 1, options.size()));
    for (const std::string_view key : {"iface=", "rx_iface=", "rx_iface_in=", "tx_iface="}) {
      if (option.starts_with(key)) names.emplace_back(option.substr(key.size()));
    }
  }
  return names;
}

std::vector<std::string> environment_arguments(const std::vector<std::string>& given,
                                               const std::string& unique, const std::string& cpus) {
  const auto says = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return has_option(given, name); });
  };
  std::vector<std::string> all{"rocetune"};
  if (!says({"-l", "-c", "--lcores", "-s", "-S"}) && !cpus.empty())
    all.push_back("--lcores=0@(" + cpus + ")");
  if (says({"--no-huge"}) && !says({"-m", "--socket-mem"})) all.insert(all.end(), {"-m", "512"});
  if (!says({"--file-prefix", "--in-memory", "--proc-type"})) all.push_back("--file-prefix=" + unique);
  if (!says({"--telemetry", "--no-telemetry"})) all.emplace_back("--no-telemetry");
  // net_vhost tells every message of its protocol unless told otherwise.
  const bool has_vhost = std::any_of(given.begin(), given.end(), [](const std::string& word) {
    return word.find("net_vhost") != std::string::npos;
  });
  if (has_vhost && !says({"--log-level"})) all.emplace_back("--log-level=lib.vhost.*:warning");
  all.insert(all.end(), given.begin(), given.end());
  return all;
}

}  // namespace rocetune::dpdk
