#include "tools/rocetune/sim.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "dataplane/base/config_files.h"
#include "dataplane/base/file.h"
#include "dataplane/base/text_table.h"
#include "dataplane/fabric/result.h"

namespace rocetune::cli {
namespace {

constexpr Bytes kScenarioLimit{1 << 20};
constexpr std::string_view kFolder = "scenarios/";
constexpr std::string_view kExtension = ".toml";
constexpr std::size_t kMostRows = 12;  // busiest ports

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const char* folder : {"scenarios", "scenarios/reference"}) {
    const auto files = ConfigFiles().list(folder, kExtension);
    for (const ConfigFile& file : files ? *files : std::vector<ConfigFile>())
      names.push_back(
          file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kExtension.size()));
  }
  return names;
}

Expected<fabric::Scenario> load(const std::string& scenario) {
  if (scenario.ends_with(kExtension)) {
    const auto text = read_file(scenario, kScenarioLimit);
    if (!text) return tl::unexpected(Error(ErrorKind::bad_input, text.error().text()));
    return fabric::scenario_from_toml(*text, scenario);
  }
  const std::vector<std::string> names = shipped_names();
  if (std::ranges::find(names, scenario) == names.end()) {
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
    const std::string nearest = nearest_name(scenario, names);
    return fail(ErrorKind::bad_input, "found {}, allowed: the path of a .toml file, or {}{}", scenario, known,
                nearest.empty() ? "" : "; did you mean " + nearest + "?");
  }
  return ConfigFiles()
      .read(std::string(kFolder) + scenario + std::string(kExtension))
      .and_then([](const ConfigFile& f) { return fabric::scenario_from_toml(f.text, f.name); });
}

fabric::Resources resources_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
          .peak_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024};
}

std::string flows_text(const fabric::FlowsResult& flows) {
  std::string out = fmt::format("  flows       {} of {} finished, {:.2f} Gb/s together, fairness {:.3f}\n",
                                flows.finished, flows.count, flows.goodput_gbps, flows.fairness);
  if (flows.fct_us) {
    out += fmt::format("  completion  min {:.1f} us, mean {:.1f}, p50 {:.1f}, p99 {:.1f}, max {:.1f}\n",
                       flows.fct_us->min, flows.fct_us->mean, flows.fct_us->p50, flows.fct_us->p99,
                       flows.fct_us->max);
  }
  if (flows.retransmitted_frames > 0)
    out += fmt::format("  sent again  {} packets\n", flows.retransmitted_frames);
  return out;
}

// The ports with the longest queues, or that paused their peers.
std::string ports_text(const std::vector<fabric::PortResult>& ports, const TextTable::Look& look) {
  std::vector<const fabric::PortResult*> busiest;
  for (const fabric::PortResult& port : ports) {
    if (port.queue_bytes.max > 0 || port.pauses_sent > 0) busiest.push_back(&port);
  }
  const auto weight = [](const fabric::PortResult* p) {
    return std::pair(p->queue_bytes.mean, p->pauses_sent);
  };
  std::ranges::stable_sort(busiest, std::greater<>(), weight);
  TextTable table({{.title = "port"},
                   {.title = "to"},
                   {.title = "queue mean", .unit = "kB", .align = Align::right},
                   {.title = "p99", .unit = "kB", .align = Align::right},
                   {.title = "max", .unit = "kB", .align = Align::right},
                   {.title = "CE", .align = Align::right},
                   {.title = "drops", .align = Align::right},
                   {.title = "Xoff sent", .align = Align::right},
                   {.title = "peer held", .unit = "%", .align = Align::right}});
  for (std::size_t i = 0; i < std::min(busiest.size(), kMostRows); ++i) {
    const fabric::PortResult& p = *busiest[i];
    const auto kb = [](double bytes) { return fmt::format("{:.1f}", bytes / 1e3); };
    table.add_row({p.name, p.peer, kb(p.queue_bytes.mean), kb(static_cast<double>(p.queue_bytes.p99)),
                   kb(static_cast<double>(p.queue_bytes.max)), fmt::format("{}", p.ce_marked),
                   fmt::format("{}", p.drops), fmt::format("{}", p.pauses_sent),
                   fmt::format("{:.1f}", 100 * p.peer_paused_ratio)});
  }
  if (table.is_empty()) return "  no queue anywhere\n";
  TextTable::Look indented = look;
  indented.indent = 2;
  std::string out = table.text(indented);
  if (busiest.size() > kMostRows)
    out += fmt::format("  {} more with shorter queues\n", busiest.size() - kMostRows);
  return out;
}

std::string text_of(const fabric::Scenario& scenario, const fabric::RunResult& r,
                    const fabric::Resources& resources, const TextTable::Look& look) {
  std::string out = fmt::format("{}: {}\n", r.scenario, scenario.description);
  out += fmt::format("  hosts {}, switches {}, seed {}; {:.3f} ms of virtual time{}\n", r.hosts, r.switches,
                     r.seed, 1e3 * r.virtual_s,
                     r.reached_limit ? " (its limit: not all flows are finished)" : "");
  out += flows_text(r.flows);
  out += fmt::format("  congestion  {} packets marked CE, {} CNPs sent, {} handled; {} pause frames\n\n",
                     r.ce_marked, r.cnps_sent, r.cnps_handled, r.pause_frames);
  out += ports_text(r.ports, look) + "\n";
  for (const fabric::CheckerResult& c : r.checkers) {
    if (!c.holds)
      out += painted(fmt::format("  VIOLATED: {}: {}", c.name, c.found), Paint::severe, look.coloured) + "\n";
  }
  if (r.is_right()) out += fmt::format("  {} checks hold\n", r.checkers.size());
  out += fmt::format("  {} packet hops in {:.2f} s of processor time, {:.1f} MB; event log {}\n",
                     r.packet_hops, resources.cpu_seconds,
                     static_cast<double>(resources.peak_rss_bytes) / 1e6, r.event_log_sha256.substr(0, 16));
  return out;
}

ExitCode list_shipped() {
  std::string out;
  for (const std::string& name : shipped_names()) {
    const auto scenario = load(name);
    if (!scenario) return complain(scenario.error());
    out += fmt::format("{:<24} {}\n", name, scenario->description);
  }
  return print_report("sim", out);
}

}  // namespace

ExitCode run_sim(const SimCommand& command) {
  if (command.list) return list_shipped();
  auto scenario = load(command.scenario);
  if (!scenario) return complain(scenario.error());
  if (command.seed) scenario->seed = scenario->options.seed = *command.seed;
  const fabric::RunResult result = fabric::run(*scenario);
  const fabric::Resources resources = resources_so_far();
  const auto look = TextTable::Look::for_stream(STDOUT_FILENO, command.colour);
  const ExitCode printed = print_report(
      "sim", command.json ? fabric::json_of(result, resources) : text_of(*scenario, result, resources, look));
  if (printed != ExitCode::fine) return printed;
  if (result.is_right()) return ExitCode::fine;
  complain(
      fmt::format("a check does not hold; again: rocetune sim {} --seed {}", command.scenario, result.seed));
  return ExitCode::findings;
}

}  // namespace rocetune::cli
