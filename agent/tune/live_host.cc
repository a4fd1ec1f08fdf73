#include "agent/tune/live_host.h"

#include <time.h>

#include <algorithm>
#include <csignal>

#include "agent/counters/deltas.h"
#include "agent/counters/live_readers.h"
#include "agent/counters/sampler.h"
#include "agent/host/bonding.h"
#include "agent/host/congestion_files.h"
#include "agent/host/host_reader.h"
#include "agent/host/route_netlink.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/file.h"

namespace rocetune::tune {
namespace {

volatile std::sig_atomic_t stop = 0;

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ROCETUNE_ASSERT(::clock_gettime(clock, &now) == 0);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Moment current_moment() {
  const auto boot_id = read_attribute("/proc/sys/kernel/random/boot_id");
  return {boot_id ? *boot_id : "unknown", clock_ns(CLOCK_BOOTTIME), clock_ns(CLOCK_REALTIME)};
}

// On CLOCK_BOOTTIME as the deadlines are. A signal ends it early; callers look at the time again.
void sleep_for(Duration span) {
  const std::int64_t ns = std::max<std::int64_t>(span.count() / 1000, 0);
  const timespec wait{ns / 1'000'000'000, ns % 1'000'000'000};
  ::clock_nanosleep(CLOCK_BOOTTIME, 0, &wait, nullptr);
}

LiveHost::LiveHost(std::string root, const host::NicTable& nics, const counters::Schema& schema)
    : root_(std::move(root)), nics_(nics), schema_(schema), writer_(root_, nics) {
  struct sigaction action {};
  action.sa_handler = [](int) { stop = 1; };
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_IGN;
  for (const int signal : {SIGHUP, SIGPIPE}) ::sigaction(signal, &action, nullptr);
}

bool LiveHost::stop_requested() { return stop != 0; }

Expected<host::Host> LiveHost::observe() {
  host::ReadOptions options;
  options.root = root_;
  return host::read_host(options, nics_);
}

namespace {

bool has_all(const host::Host& host, const std::vector<std::string>& ports) {
  return std::all_of(ports.begin(), ports.end(),
                     [&](const std::string& port) { return host.find_port(port) != nullptr; });
}

}  // namespace

// Our own network namespace, without owners, GPUs, GIDs and the survey of other namespaces. A port that is
// not there may be in another namespace: then everything is read.
Expected<host::Host> LiveHost::look(const std::vector<std::string>& ports) {
  const host::HostFiles files(root_);
  host::Host out;
  out.lockdown = host::read_lockdown(files);
  out.bonds = host::read_bonds(files);
  const host::KernelAnswers kernel = host::ask_kernel();
  if (kernel.links) {
    out.ports = host::read_ports(files, kernel, nics_, out.lockdown, out.bonds, host::PortDetail::settings);
  }
  return has_all(out, ports) ? Expected<host::Host>(std::move(out)) : observe();
}

Expected<host::Host> LiveHost::look_at_links(const std::vector<std::string>& ports) {
  auto socket = host::RouteSocket::open();
  if (!socket) return tl::unexpected(socket.error());
  const auto links = socket->links();
  if (!links) return tl::unexpected(links.error());
  host::Host out;
  out.bonds = host::read_bonds(host::HostFiles(root_));
  for (const host::LinkEntry& link : *links) {
    host::Port port;
    port.name = link.name;
    port.link = host::Link{.admin_up = link.admin_up, .carrier = link.carrier.value_or(false)};
    out.ports.push_back(std::move(port));
  }
  return has_all(out, ports) ? Expected<host::Host>(std::move(out)) : observe();
}

Expected<counters::Interval> LiveHost::measure(Duration span) {
  const auto host = look({});
  if (!host) return tl::unexpected(host.error());
  SystemClock clock;
  const host::HostFiles files(root_);
  counters::LiveSockets sockets(files);
  counters::Sampler sampler(schema_, counters::live_readers(*host, files, sockets, clock), clock);
  const counters::Reading before = sampler.read();
  const Instant until = clock.now() + span;
  while (!stop_requested() && clock.now() < until) clock.sleep_until(until);
  return counters::interval_between(schema_, before, sampler.read());
}

}  // namespace rocetune::tune
