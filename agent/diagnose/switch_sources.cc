// Sources on a switch that contradict each other, and packets that its counters show as lost.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/switch_facts.h"

namespace rocetune::diagnose {
namespace {

using evidence::PfcFrames;
using evidence::PortTraffic;
using evidence::QueueTraffic;
using evidence::WatchdogQueue;

struct FrameSum {
  std::optional<std::uint64_t> frames;
  const evidence::Document* document = nullptr;
  int line = 0;
  void add(const SwitchText& text, std::uint64_t count, int at) {
    if (!frames || (*frames == 0 && count > 0)) {
      document = text.document;
      line = at;
    }
    frames = frames.value_or(0) + count;
  }
};

// PFC frames by the ASIC and by the command line, all ports: ids of the ASIC are not names of ports.
void compare_layers(const std::vector<SwitchText>& texts, std::vector<Finding>& findings,
                    std::vector<Evidence>& good) {
  for (const bool received : {true, false}) {
    FrameSum cli, asic;
    std::string cached;
    for (const SwitchText& text : texts) {
      const bool is_asic = text.document->format == "sonic-sdk-counters";
      for (const PfcFrames& row : text.evidence->pfc_frames) {
        if (row.received == received && row.sum()) (is_asic ? asic : cli).add(text, *row.sum(), row.line);
      }
      if (!is_asic && !text.evidence->cached_since.empty()) cached = text.evidence->cached_since;
    }
    if (!cli.frames || !asic.frames) continue;
    const char* what = received ? "received" : "sent";
    std::vector<Evidence> evidence{shown(fmt::format("pause frames {}, by the command line", what),
                                         *cli.frames, "frames", *cli.document, cli.line),
                                   shown(fmt::format("pause frames {}, by the ASIC", what), *asic.frames,
                                         "frames", *asic.document, asic.line)};
    if (!cached.empty())
      evidence.push_back(shown("the command line counts since", cached, "", *cli.document, 1));
    if ((*cli.frames == 0) == (*asic.frames == 0)) {
      append(good, std::move(evidence));
      continue;
    }
    Finding finding;
    finding.evidence = std::move(evidence);
    finding.subject = fmt::format("pause frames {}", what);
    finding.cause =
        fmt::format("The command line shows {} pause frames {} and the ASIC {}: the lower layer is right{}.",
                    *cli.frames, what, *asic.frames,
                    cached.empty() ? "" : ", and the command line shows a difference to a saved snapshot");
    finding.fix = advise(
        "Believe the ASIC's counters; clear the saved snapshot (`sonic-clear pfccounters`), check which port "
        "the ASIC's "
        "id stands for, and report the command line's counter path if it stays at 0.",
        {"sonic-clear pfccounters", "show pfc counters"});
    findings.push_back(std::move(finding));
  }
}

// Drops that the interface counters of the same port do not show.
void compare_drops(const std::vector<SwitchText>& texts, std::vector<Finding>& findings,
                   std::vector<Evidence>& good) {
  std::map<std::string, std::pair<const SwitchText*, const PortTraffic*>> interfaces;
  for (const SwitchText& text : texts) {
    for (const PortTraffic& row : text.evidence->traffic) {
      if (row.tx_drop) interfaces[row.port] = {&text, &row};
    }
  }
  const auto compare = [&](const SwitchText& text, const std::string& port, const std::string& who,
                           std::uint64_t drops, int line) {
    const auto found = interfaces.find(port);
    if (found == interfaces.end() || drops == 0) return;
    const auto& [interface_text, row] = found->second;
    if (*row->tx_drop > 0) {
      good.push_back(
          shown("transmit drops of " + port, *row->tx_drop, "packets", *interface_text->document, row->line));
      return;
    }
    Finding finding;
    finding.subject = fmt::format("{} {}", text.name(), port);
    finding.evidence = {
        shown("transmit drops of the interface", 0, "packets", *interface_text->document, row->line),
        shown(who, drops, "packets", *text.document, line)};
    finding.cause = fmt::format(
        "The interface counters of {} show no drop while {} packets were dropped one layer below: zero "
        "interface drops "
        "clear nothing.",
        port, drops);
    finding.fix = advise("Watch the counters of the queue and of the watchdog, not the interface's.",
                         {"show queue counters", "show pfcwd stats"});
    findings.push_back(std::move(finding));
  };
  for (const SwitchText& text : texts) {
    for (const WatchdogQueue& row : text.evidence->watchdog)
      compare(text, row.port, fmt::format("dropped by the watchdog on queue {}", row.queue), row.tx_drop,
              row.line);
    for (const QueueTraffic& row : text.evidence->queues)
      compare(text, row.port, "dropped by queue " + row.queue, row.dropped.value_or(0), row.line);
  }
}

// Texts that show one port more often say nothing new.
constexpr std::size_t kMostOfAPort = 16;

// A storm without a pause frame.
void compare_storms(const std::vector<SwitchText>& texts, std::vector<Finding>& findings,
                    std::vector<Evidence>& good) {
  std::multimap<std::string, std::pair<const SwitchText*, const PfcFrames*>> received_on;
  for (const SwitchText& text : texts) {
    for (const PfcFrames& row : text.evidence->pfc_frames) {
      if (row.received && received_on.count(row.port) < kMostOfAPort)
        received_on.emplace(row.port, std::pair(&text, &row));
    }
  }
  for (const SwitchText& text : texts) {
    for (const WatchdogQueue& storm : text.evidence->watchdog) {
      if (storm.detected == 0 || storm.queue > 7) continue;
      const auto [first, last] = received_on.equal_range(storm.port);
      for (auto it = first; it != last; ++it) {
        const SwitchText& other = *it->second.first;
        const PfcFrames& row = *it->second.second;
        const auto frames = row.of_priority[static_cast<std::size_t>(storm.queue)];
        if (!frames) continue;
        std::vector<Evidence> evidence{shown(fmt::format("storms on queue {}", storm.queue), storm.detected,
                                             "", *text.document, storm.line),
                                       shown(fmt::format("PFC frames received on priority {}", storm.queue),
                                             *frames, "frames", *other.document, row.line)};
        if (*frames > 0) {
          append(good, std::move(evidence));
          continue;
        }
        Finding finding;
        finding.subject = fmt::format("{} queue {}", storm.port, storm.queue);
        finding.evidence = std::move(evidence);
        finding.cause =
            "The watchdog found storms on a queue whose port counts no received pause frame: one of the "
            "two is wrong, "
            "or the frames are counted since a later moment.";
        finding.fix = advise(
            "Read both counters anew, one right after the other, and the ASIC's own; watch the "
            "neighbour's sent pause frames.");
        findings.push_back(std::move(finding));
      }
    }
  }
}

Outcome contradictions(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  const auto texts = switch_texts(facts);
  compare_layers(texts, findings, good);
  compare_drops(texts, findings, good);
  compare_storms(texts, findings, good);
  return Outcome::of(std::move(findings), std::move(good),
                     "no two sources of a switch that count the same thing are among the inputs");
}

// ---- LOSS-1 ----

// What a watchdog dropped on that port.
// By port: the most that one text shows.
std::map<std::string, std::uint64_t> watchdog_drops(const std::vector<SwitchText>& texts) {
  std::map<std::string, std::uint64_t> out;
  for (const SwitchText& text : texts) {
    std::map<std::string, std::uint64_t> here;
    for (const WatchdogQueue& row : text.evidence->watchdog) here[row.port] += row.tx_drop;
    for (const auto& [port, drops] : here) out[port] = std::max(out[port], drops);
  }
  return out;
}

void judge_drops(const DossierFacts& facts, const SwitchText& text, const std::string& what, int line,
                 std::uint64_t sent, std::uint64_t dropped, const std::string& subject,
                 std::vector<Finding>& findings, std::vector<Evidence>& good) {
  const std::uint64_t offered = sent + dropped;
  if (offered < facts.policy.idle_below_packets) return;
  const double share = static_cast<double>(dropped) / static_cast<double>(offered);
  std::vector<Evidence> evidence{
      shown(what, dropped, "packets", *text.document, line),
      shown("offered (sent and dropped)", offered, "packets", *text.document, line)};
  if (share < facts.policy.notable_loss.value()) {
    append(good, std::move(evidence));
    return;
  }
  Finding finding;
  finding.severity = share >= facts.policy.critical_loss.value() ? Severity::warning : Severity::info;
  finding.confidence = Confidence::medium;
  finding.subject = subject;
  finding.evidence = std::move(evidence);
  finding.cause = fmt::format(
      "{:.3g} % of what was to leave here was dropped for want of buffer (totals since the counters were "
      "cleared, all "
      "classes): RoCE among it is repeated from the lost packet on.",
      share * 100);
  finding.fix = advise(
      "See which queue drops (`show queue counters`), whether the RoCE class reaches a lossless one (MAP-5), "
      "and whether "
      "ECN marks before (ECN-1).",
      {"show queue counters"});
  findings.push_back(std::move(finding));
}

Outcome judge_switch_loss(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  const auto texts = switch_texts(facts);
  const std::map<std::string, std::uint64_t> storms = watchdog_drops(texts);
  for (const SwitchText& text : texts) {
    for (const PortTraffic& row : text.evidence->traffic) {
      if (!row.tx_ok || !row.tx_drop) continue;
      // Drops of a watchdog are SW-1's.
      const auto known = storms.find(row.port);
      const std::uint64_t stormed = known == storms.end() ? 0 : known->second;
      const std::uint64_t dropped = *row.tx_drop > stormed ? *row.tx_drop - stormed : 0;
      judge_drops(facts, text, "transmit drops", row.line, *row.tx_ok, dropped, text.name() + " " + row.port,
                  findings, good);
    }
    for (const QueueTraffic& row : text.evidence->queues) {
      if (!row.sent || !row.dropped) continue;
      judge_drops(facts, text, "dropped by queue " + row.queue, row.line, *row.sent, *row.dropped,
                  text.name() + " " + row.port + " queue " + row.queue, findings, good);
    }
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no counters of a switch's drops among the inputs");
}

}  // namespace

std::span<const Rule> switch_source_rules() {
  static constexpr Rule kRules[] = {
      {.id = "SW-3",
       .title = "Sources on a switch agree",
       .condition = "Command line and ASIC, interface, queue and watchdog count the same events.",
       .why = "A source that cannot see the drops or pauses clears the switch of what it did.",
       .needs = "Two outputs of one switch that count the same thing.",
       .decided = "Warning where one is 0 and the other is not.",
       .fix = "Trust the lower layer; the counter to read.",
       .source = "sonic-net/sonic-buildimage#5540",
       .gates = {},
       .judge = contradictions},
      {.id = "LOSS-1",
       .title = "Switches drop no packets",
       .condition =
           "The share of packets that a port or queue dropped on the way out is below the notable loss.",
       .why = "Go-back-N repeats everything from the lost packet on.",
       .needs = "show interfaces counters, show queue counters, or Junos's queue counters.",
       .decided = "Warning at or above the critical loss of the policy, info above the notable: the counters "
                  "are totals "
                  "of all classes. Drops of a PFC watchdog are left to SW-1.",
       .fix = "The queue's class, ECN, load.",
       .source = "perftest#219; SONiC command reference",
       .gates = {},
       .judge = judge_switch_loss},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
