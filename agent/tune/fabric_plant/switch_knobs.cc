// ECN, thresholds and buffers of switches.
#include <algorithm>
#include <cmath>

#include "agent/tune/fabric_plant/knobs.h"
#include "agent/tune/fabric_plant/limits.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::Scenario;
using fabric::SwitchParameters;
using search::Scale;

constexpr double kByteStep = 1000;
constexpr std::string_view kHpcc100 =
    "HPCC authors' ns-3 configuration for 100 Gb/s, in proportion to the rate of the hosts' links";

double bytes_of(Bytes b) { return static_cast<double>(b.count()); }
Bytes to_bytes(double value) { return Bytes(static_cast<std::int64_t>(value)); }
double rounded_down(double value) { return std::max(std::floor(value / kByteStep), 1.0) * kByteStep; }

// What HPCC's set-up for 100 Gb/s has, for these links.
double at_rate(const KnobTableMaker& maker, double for_100_gbps) {
  return rounded_down(for_100_gbps * gbps_of(host_rate(maker.scenario())) / 100);
}

void add_marking(KnobTableMaker& maker) {
  const double buffer = bytes_of(maker.usual_switch().ingress.buffer);
  maker.add_switch_number(
      {.name = "switches.kmin",
       .meaning = "the queue from which switches mark with ECN",
       .min = kByteStep,
       .max = rounded_down(buffer / 4),
       .step = kByteStep,
       .scale = Scale::logarithmic,
       .unit = "bytes",
       .standard = at_rate(maker, 400'000),
       .standard_origin = std::string(kHpcc100)},
      {}, [](const SwitchParameters& s) { return bytes_of(s.congestion_point.curve.minimum); },
      [](SwitchParameters& s, double v) { s.congestion_point.curve.minimum = to_bytes(v); });
  maker.add_switch_number(
      {.name = "switches.kmax",
       .meaning = "the queue from which switches mark every packet",
       .min = 2 * kByteStep,
       .max = rounded_down(buffer / 2),
       .step = kByteStep,
       .scale = Scale::logarithmic,
       .unit = "bytes",
       .standard = at_rate(maker, 1'600'000),
       .standard_origin = std::string(kHpcc100)},
      {}, [](const SwitchParameters& s) { return bytes_of(s.congestion_point.curve.maximum); },
      [](SwitchParameters& s, double v) { s.congestion_point.curve.maximum = to_bytes(v); });
  maker.add_switch_number(
      {.name = "switches.pmax",
       .meaning = "the share of packets that switches mark at kmax",
       .min = 1,
       .max = 100,
       .step = 1,
       .scale = Scale::logarithmic,
       .unit = "percent",
       .standard = 20,
       .standard_origin = "HPCC authors' ns-3 configuration for 100 Gb/s"},
      {}, [](const SwitchParameters& s) { return s.congestion_point.curve.probability.percent(); },
      [](SwitchParameters& s, double v) {
        s.congestion_point.curve.probability = Ratio(std::llround(v / 100 * Ratio::kOne));
      });
}

void add_pool(KnobTableMaker& maker) {
  maker.add_switch_number(
      {.name = "switches.alpha_exponent",
       .meaning = "what one lossless ingress may hold of the free shared buffer before Xoff: 2 to this power",
       .min = -7,
       .max = 3,
       .step = 1,
       .standard = -3,
       .standard_origin = "SONiC's dynamic_th of lossless pools on most platforms"},
      {}, [](const SwitchParameters& s) { return double(s.ingress.lossless_pool.alpha_exponent); },
      [](SwitchParameters& s, double v) {
        s.ingress.lossless_pool.alpha_exponent = static_cast<int>(std::lround(v));
      });
  if (maker.usual_switch().ingress.derived_headroom) {
    return maker.leave_out("switches.headroom", "the file derives it from rate, cable and MTU");
  }
  const double needed = bytes_of(headroom_need(maker.scenario()).needed);
  if (needed == 0) return maker.leave_out("switches.headroom", "no class is lossless");
  const double least = std::ceil(needed / kByteStep) * kByteStep;
  maker.add_switch_number(
      {.name = "switches.headroom",
       .meaning = "room for what arrives after Xoff, of each lossless class of a port",
       .min = least,
       .max = 4 * least,
       .step = kByteStep,
       .scale = Scale::logarithmic,
       .unit = "bytes",
       .standard = least,
       .standard_origin = "IEEE 802.1Q annex N, for these links, rates and MTU"},
      {}, [](const SwitchParameters& s) { return bytes_of(s.ingress.lossless_pool.headroom); },
      [](SwitchParameters& s, double v) { s.ingress.lossless_pool.headroom = to_bytes(v); });
}

std::string watchdog_text(const SwitchParameters& s) {
  return s.watchdog ? "after " + to_text(s.watchdog->detection) : "off";
}

void add_watchdog(KnobTableMaker& maker) {
  std::vector<KnobTableMaker::Choice> choices{{"off", [](Scenario& s) {
                                                 s.options.switches.watchdog.reset();
                                                 for (auto& [index, own] : s.options.own_switch)
                                                   own.watchdog.reset();
                                               }}};
  // SONiC takes 100 ms to 5 s; what the run is too short for does nothing.
  for (const Duration detection : {milliseconds(100), milliseconds(200), milliseconds(400)}) {
    if (detection >= maker.scenario().limit) continue;
    choices.push_back({"after " + to_text(detection), [detection](Scenario& s) {
                         const fabric::WatchdogParameters watchdog{.detection = detection};
                         s.options.switches.watchdog = watchdog;
                         for (auto& [index, own] : s.options.own_switch) own.watchdog = watchdog;
                       }});
  }
  maker.add_choice(
      {.name = "switches.watchdog",
       .meaning = "when a switch drops a lossless queue that stays held",
       .standard_origin = "SONiC pfcwd: 100 ms to 5 s"},
      Place::switches, std::move(choices),
      [](const Scenario& s) { return watchdog_text(s.options.switches); },
      "a run ends before a watchdog of 100 ms, the shortest of SONiC, acts");
}

}  // namespace

void add_switch_knobs(KnobTableMaker& maker) {
  add_marking(maker);
  add_pool(maker);
  add_watchdog(maker);
}

}  // namespace rocetune::fabric_plant
