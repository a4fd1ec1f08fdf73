#include "tools/rocetune/snapshot.h"

#include <fmt/core.h>
#include <sys/klog.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "agent/counters/live_readers.h"
#include "agent/counters/sampler.h"
#include "agent/counters/snapshot.h"
#include "agent/host/anonymous.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/durable.h"
#include "dataplane/base/file.h"
#include "dataplane/base/reflect_json.h"
#include "tools/rocetune/this_host.h"

namespace rocetune::cli {
namespace {

constexpr std::size_t kMostKernelLog = 256 << 10;  // of the lines kept, the last

// What doctor reads in a kernel log: NIC drivers, PCIe errors, IOMMU faults, GPUs and RDMA.
constexpr std::array<std::string_view, 18> kLogWords{
    "mlx5",    "mlx4", "bnxt", "irdma",  " ice ",   "ionic",  "qed",    "rdma",           "infiniband",
    "ib_core", "AER",  "DMAR", "AMD-Vi", "IO_PAGE", "nvidia", "amdgpu", "available PCIe", "Link is"};

bool is_wanted_line(std::string_view line) {
  return std::any_of(kLogWords.begin(), kLogWords.end(),
                     [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

// The kernel's ring of messages without its level marks: "<6>[    1.0] text" -> "[    1.0] text".
Expected<std::string> kernel_log() {
  constexpr int kReadAll = 3, kSize = 10;  // SYSLOG_ACTION_*, kernel/printk/printk.c
  const int size = ::klogctl(kSize, nullptr, 0);
  if (size < 0) return fail_os(errno, "kernel log");
  std::string all(static_cast<std::size_t>(size), '\0');
  const int length = ::klogctl(kReadAll, all.data(), size);
  if (length < 0) return fail_os(errno, "kernel log");
  all.resize(static_cast<std::size_t>(length));
  std::string out;
  std::string_view rest = all;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.starts_with('<')) line.remove_prefix(std::min(line.find('>') + 1, line.size()));
    if (is_wanted_line(line)) out.append(line).push_back('\n');
  }
  if (out.size() > kMostKernelLog) out.erase(0, out.find('\n', out.size() - kMostKernelLog) + 1);
  return out;
}

// What other programs and files say, for the rules that read texts.
std::vector<counters::SavedText> read_texts(const std::string& root, std::vector<std::string>& left_out) {
  std::vector<counters::SavedText> out;
  if (root == "/") {  // another tree has no kernel of its own
    auto log = kernel_log();
    if (!log) {
      left_out.push_back(log.error().text());
    } else if (!log->empty()) {
      out.push_back({"dmesg", std::move(*log)});
    }
  }
  // Read by NCCL for every job on the host (NCCL's documentation, "Environment variables").
  const auto settings = read_file((root == "/" ? "" : root) + "/etc/nccl.conf");
  if (settings && !settings->empty()) out.push_back({"nccl.conf", *settings});
  return out;
}

std::vector<counters::Reading> read_counters(const host::Host& host, const SnapshotCommand& command,
                                             const counters::Schema& schema) {
  std::vector<counters::Reading> out;
  if (command.watch_for == Duration(0)) return out;
  SystemClock clock;
  const host::HostFiles files(command.common.root);
  counters::LiveSockets sockets(files);
  counters::Sampler sampler(schema, counters::live_readers(host, files, sockets, clock), clock);
  out.push_back(sampler.read());
  const Instant end = out.front().at + command.watch_for;
  while (out.back().at < end) {
    const Duration step = counters::Sampler::effective_interval(command.interval, out.back());
    clock.sleep_until(std::min(out.back().at + step, std::max(end, clock.now())));
    out.push_back(sampler.read());
  }
  return out;
}

Expected<std::string> random_salt() {
  std::string out(16, '\0');
  if (::getrandom(out.data(), out.size(), 0) != static_cast<ssize_t>(out.size()))
    return fail_os(errno, "random salt");
  return out;
}

Expected<> hide(counters::Snapshot& snapshot, const SnapshotCommand& command,
                std::vector<std::string>& left_out) {
  auto salt = command.salt.empty() ? random_salt() : Expected<std::string>(command.salt);
  if (!salt) return tl::unexpected(salt.error());
  host::make_anonymous(snapshot.host, host::Anonymizer(std::move(*salt)));
  snapshot.header.anonymous = true;
  for (const counters::SavedText& text : snapshot.texts) {
    left_out.push_back(text.name + ": may name people and machines (--anonymous)");
  }
  snapshot.texts.clear();
  return {};
}

// "rocetune-node1-20261130T101500Z.snapshot".
std::string usual_name(const counters::Snapshot& snapshot) {
  std::string time = utc_text(snapshot.header.taken_unix_ns).substr(0, 19);
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  std::string host = snapshot.host.name.empty() ? "host" : snapshot.host.name;
  std::replace(host.begin(), host.end(), '/', '_');
  return fmt::format("rocetune-{}-{}Z.snapshot", host, time);
}

ExitCode print_script() {
  const auto script = ConfigFiles().read("snapshot.sh");
  if (!script) return complain(script.error());
  print(script->text);
  return ExitCode::fine;
}

}  // namespace

ExitCode run_snapshot(const SnapshotCommand& command) {
  if (command.script) return print_script();
  const auto configs = ConfigFiles::with_directory(command.config_directory);
  if (!configs) return complain(configs.error());
  const auto nics = host::NicTable::load(*configs);
  if (!nics) return complain(nics.error());
  const auto schema = counters::Schema::load(*configs);
  if (!schema) return complain(schema.error());
  auto host = read_this_host({.root = command.common.root}, *nics);
  if (!host) return complain(host.error());

  counters::Snapshot snapshot;
  std::vector<std::string> left_out;
  snapshot.header.rocetune = ROCETUNE_VERSION;
  snapshot.header.taken_unix_ns = SystemClock().unix_ns();
  snapshot.texts = read_texts(command.common.root, left_out);
  snapshot.readings = read_counters(*host, command, *schema);
  snapshot.host = std::move(*host);
  if (command.anonymous) {
    if (auto hidden = hide(snapshot, command, left_out); !hidden) return complain(hidden.error());
  }

  const std::string text = counters::to_text(snapshot);
  const std::string file = command.file.empty() ? usual_name(snapshot) : command.file;
  for (const std::string& what : left_out) fmt::print(stderr, "rocetune: left out: {}\n", what);
  if (file == "-") {
    print(text);
    return ExitCode::fine;
  }
  if (path_exists(file)) {
    return complain(
        Error(ErrorKind::bad_input,
              fmt::format("{}: found a file, allowed: a new name (snapshots are not overwritten)", file)));
  }
  if (auto written = write_atomically(file, text, 0600); !written) return complain(written.error());
  if (command.common.json) {
    JsonWriter out;
    out.begin_object().member("schema_version", 1).member("file", file).member("bytes", text.size());
    out.member("host", snapshot.host.name).member("ports", snapshot.host.ports.size());
    out.member("readings", snapshot.readings.size()).member("anonymous", snapshot.header.anonymous);
    out.key("left_out");
    to_json(out, left_out);
    out.end_object();
    print(out.take() + "\n");
  } else {
    print(fmt::format(
        "{}: {} ports, {} readings of counters, {} bytes\nLook at it anywhere: rocetune doctor --from {}\n",
        file, snapshot.host.ports.size(), snapshot.readings.size(), text.size(), file));
  }
  return ExitCode::fine;
}

}  // namespace rocetune::cli
