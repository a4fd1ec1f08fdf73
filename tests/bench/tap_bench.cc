// The tap's speed: frames from memory through the observer, and a capture file beside tshark on the same
// file. Without tshark its row says "not installed". tshark starts in about a second; the file is long enough
// for that not to matter, and its time is measured both with and without work.
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dataplane/tap/capture_analysis.h"
#include "dataplane/wire/opcode.h"
#include "dataplane/wire/path_headers.h"

namespace {

using namespace rocetune;
using Frame = std::vector<std::byte>;

constexpr int kRepeats = 5;

// Processor time, of this process or of its finished children: on a shared machine wall time measures the
// others.
double cpu_seconds(int who = RUSAGE_SELF) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Frame frame_of(std::uint32_t from, std::uint32_t to, std::uint32_t qp, std::uint8_t opcode, std::uint32_t psn,
               std::size_t payload) {
  const wire::PathHeaders headers(wire::Path{.source = wire::IpAddress::v4(0x0A000000 + from),
                                             .destination = wire::IpAddress::v4(0x0A000000 + to),
                                             .tos = TosByte(Dscp(26), Ecn::ect0)});
  const std::size_t transport = wire::Bth::kSize + wire::info_of(opcode).extended_size + payload;
  Frame frame(headers.size() + transport + wire::kIcrcSize);
  const wire::MutableBytes bytes(frame);
  headers.emit(bytes, transport);
  wire::Bth{.opcode = opcode, .destination = wire::Qpn(qp), .psn = wire::Psn(psn)}.emit(
      wire::fixed<wire::Bth::kSize>(bytes, headers.size()));
  wire::store_icrc(bytes, headers.size() + transport,
                   headers.icrc().icrc(bytes.subspan(headers.size(), transport)));
  return frame;
}

// `pairs` queue pairs in turns, an ACK after every sixteenth packet of each.
std::vector<Frame> traffic(std::size_t frames, std::uint32_t pairs, std::size_t payload) {
  std::vector<Frame> out;
  for (std::uint32_t n = 0; out.size() < frames; ++n) {
    const std::uint32_t qp = n % pairs;
    const std::uint32_t psn = n / pairs;
    out.push_back(frame_of(1, 2, 0x100 + qp, wire::opcode::kRcWriteMiddle, psn, payload));
    if (psn % 16 == 15) out.push_back(frame_of(2, 1, 0x900 + qp, wire::opcode::kRcAcknowledge, psn, 0));
  }
  return out;
}

// Least, median and best of the runs: on a shared machine only the best says what the code can do.
struct Speed {
  double least = 0;
  double median = 0;
  double best = 0;
};
template <class Run>
Speed measure(const Run& run) {
  std::vector<double> rates;
  for (int i = 0; i < kRepeats; ++i) rates.push_back(run());
  std::ranges::sort(rates);
  return {rates.front(), rates[rates.size() / 2], rates.back()};
}

Speed from_memory(const std::vector<Frame>& frames, bool check_icrc) {
  return measure([&] {
    tap::Observer observer(tap::ObserverOptions{.check_icrc = check_icrc});
    const double start = cpu_seconds();
    Instant now;
    for (const Frame& frame : frames) {
      now = now + nanoseconds(100);
      observer.observe(tap::LinkType::ethernet, frame, static_cast<std::uint32_t>(frame.size()), now);
    }
    return static_cast<double>(frames.size()) / (cpu_seconds() - start);
  });
}

void write_pcap(const std::string& path, const std::vector<Frame>& frames) {
  std::ofstream out(path, std::ios::binary);
  const auto u32 = [&](std::uint32_t v) { out.write(reinterpret_cast<const char*>(&v), 4); };
  u32(0xA1B23C4D);  // nanoseconds, in this machine's order
  u32(4U << 16 | 2);
  for (const std::uint32_t v : {0U, 0U, 262'144U, 1U}) u32(v);
  std::uint64_t ns = 0;
  for (const Frame& frame : frames) {
    ns += 100;
    u32(static_cast<std::uint32_t>(ns / 1'000'000'000));
    u32(static_cast<std::uint32_t>(ns % 1'000'000'000));
    u32(static_cast<std::uint32_t>(frame.size()));
    u32(static_cast<std::uint32_t>(frame.size()));
    out.write(reinterpret_cast<const char*>(frame.data()), static_cast<std::streamsize>(frame.size()));
  }
}

void print_row(const std::string& name, const Speed& speed) {
  fmt::print("{:<44} {:>8.3f} {:>8.3f} {:>8.3f}\n", name, speed.median / 1e6, speed.least / 1e6,
             speed.best / 1e6);
}

void beside_tshark(const std::vector<Frame>& frames) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("tap-bench-{}.pcap", getpid())).string();
  write_pcap(path, frames);
  const Speed ours = measure([&] {
    const double start = cpu_seconds();
    const auto file = tap::MappedFile::open(path);
    const auto facts = tap::analyse_capture(file->bytes(), path, {});
    if (!facts || facts->frames != static_cast<std::int64_t>(frames.size())) std::abort();
    return static_cast<double>(frames.size()) / (cpu_seconds() - start);
  });
  print_row("capture file, rocetune", ours);
  if (std::system("command -v tshark >/dev/null 2>&1") != 0) {
    fmt::print("{:<44} not measured: tshark is not installed\n", "capture file, tshark");
  } else {
    // Full dissection of every frame with the fields that the tap counts by; one run is long enough.
    const std::string command = fmt::format(
        "tshark -n -r {} -T fields -e infiniband.bth.opcode -e infiniband.bth.destqp -e infiniband.bth.psn "
        "-e infiniband.aeth.syndrome >/dev/null 2>&1",
        path);
    const double start = cpu_seconds(RUSAGE_CHILDREN);
    const bool fine = std::system(command.c_str()) == 0;
    const double rate = static_cast<double>(frames.size()) / (cpu_seconds(RUSAGE_CHILDREN) - start);
    if (fine) {
      fmt::print("{:<44} {:>8.3f}   one run; rocetune is {:.1f} times as fast\n", "capture file, tshark",
                 rate / 1e6, ours.median / rate);
    } else {
      fmt::print("{:<44} failed\n", "capture file, tshark");
    }
  }
  std::filesystem::remove(path);
}

}  // namespace

int main() {
  fmt::print("{:<44} {:>8} {:>8} {:>8}   million frames per second of processor time, {} runs\n", "",
             "median", "least", "best", kRepeats);
  for (const std::size_t payload : {std::size_t{64}, std::size_t{1024}, std::size_t{4096}}) {
    for (const std::uint32_t pairs : {1U, 1000U}) {
      const std::vector<Frame> frames = traffic(payload > 1024 ? 50'000 : 200'000, pairs, payload);
      for (const bool check : {true, false}) {
        const Speed speed = from_memory(frames, check);
        print_row(fmt::format("from memory, {} B, {} QPs, ICRC {}", payload, pairs, check ? "on" : "off"),
                  speed);
      }
    }
  }
  beside_tshark(traffic(200'000, 100, 1024));
  return 0;
}
