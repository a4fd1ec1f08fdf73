#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"
#include "congestion/headroom.h"

namespace rocetune::diagnose {
namespace {

constexpr std::size_t kBuffers = 8;

// ---- PFC-3 ----

// Priorities whose buffer has to be lossless: those of the RoCE class that have PFC; where it has none, if a
// buffer was set apart for it. PFC elsewhere is a mistake of its own (MAP-3, MAP-7), and its headroom no
// second one.
PrioritySet priorities_to_protect(const PortFacts& facts, const host::Pfc& pfc,
                                  const host::PortBuffers& buffers) {
  if (facts.declared.lossless) {
    return PrioritySet(static_cast<std::uint8_t>(facts.declared.lossless->mask() & pfc.enabled.mask()));
  }
  if (!facts.roce_class) return pfc.enabled;
  const Priority p = facts.roce_class->priority;
  if (pfc.enabled.contains(p)) return PrioritySet::of(p);
  const std::uint8_t buffer = buffers.buffer_of_priority[static_cast<std::size_t>(p.value())];
  const bool set_apart =
      priority_with_own_buffer(buffers) == p && buffer < kBuffers && !buffers.size[buffer].is_zero();
  return set_apart ? PrioritySet::of(p) : PrioritySet();
}

// PFC's delay where it is a cable length, else the driver's default, which it computes with too.
Metres cable_of(const PortFacts& facts, const host::Pfc& pfc) {
  const host::DcbTraits& dcb = facts.nic->row.dcb;
  const bool is_length =
      dcb.pfc_delay_unit == host::DelayUnit::metres && pfc.delay > 0 && pfc.delay <= dcb.pfc_delay_max;
  return Metres(is_length ? pfc.delay : dcb.pfc_delay_default);
}

Mlx5Headroom headroom_of(const PortFacts& facts, const host::Pfc& pfc, BitRate speed) {
  Mlx5Headroom out;
  out.speed = speed;
  out.mtu = facts.port.mtu;
  out.cable = cable_of(facts, pfc);
  if (facts.port.max_mtu) out.max_mtu = std::max(out.max_mtu, *facts.port.max_mtu);
  return out;
}

// The buffers with `buffer` at least `size`, taken from what is free and then from lossy buffer 0; nothing if
// that does not suffice.
std::optional<host::BufferSetting> enlarged(const host::PortBuffers& now, std::size_t buffer, Bytes size,
                                            Bytes cell) {
  host::BufferSetting out{now.buffer_of_priority, now.size};
  out.size[buffer] = (size + cell - Bytes(1)) / cell * cell;
  Bytes sum;
  for (const Bytes s : out.size) sum += s;
  const Bytes over = sum - now.total;
  if (over <= Bytes(0)) return out;
  const Bytes shrink = (over + cell - Bytes(1)) / cell * cell;
  if (buffer == 0 || out.size[0] <= shrink) return std::nullopt;
  out.size[0] -= shrink;
  return out;
}

Finding too_small(const PortFacts& facts, const host::PortBuffers& buffers, const Mlx5Headroom& headroom,
                  std::size_t buffer) {
  const Bytes size = buffers.size[buffer], needed = headroom.minimum_lossless_buffer();
  Finding finding;
  finding.subject = fmt::format("buffer {}", buffer);
  finding.evidence = {setting(fmt::format("size of buffer {}", buffer), size.count(), "B", source::kBuffers),
                      setting("needed", needed.count(), "B",
                              fmt::format("headroom at {}, MTU {}, cable {}", to_text(headroom.speed),
                                          headroom.mtu.count(), to_text(headroom.cable))),
                      setting("total", buffers.total.count(), "B", source::kBuffers)};
  finding.cause = fmt::format(
      "Lossless buffer {} has {} B, and {} B arrive between Xoff and the last packet at {}: RoCE is dropped "
      "although PFC is on.",
      buffer, size.count(), needed.count(), to_text(headroom.speed));
  if (const auto larger = enlarged(buffers, buffer, needed, headroom.cell)) {
    finding.fix = change_settings(facts, fmt::format("Give buffer {} at least {} B.", buffer, needed.count()),
                                  {{{facts.port.name, host::KnobKind::buffers, ""}, *larger}});
  } else {
    finding.fix =
        advise(fmt::format("Buffer {} needs {} B, which the port's {} B do not leave: set the true cable "
                           "length (PFC delay), lower the MTU, or have fewer buffers.",
                           buffer, needed.count(), buffers.total.count()));
  }
  return finding;
}

Outcome judge_headroom(const PortFacts& facts) {
  if (facts.nic->headroom == HeadroomFormula::none) {
    return Outcome::not_checked(fmt::format("no headroom formula is published for {}", facts.port.nic));
  }
  Needs need;
  const host::Pfc* pfc = need(facts.port.dcb.pfc, "PFC");
  const host::PortBuffers* buffers = need(facts.port.dcb.buffers, "port buffers");
  const host::Link* link = need(facts.port.link, "link");
  const BitRate* speed = link == nullptr ? nullptr : need(link->speed, "link speed");
  if (need.missing()) return need.not_checked();
  if (facts.port.mtu <= Bytes(0)) return Outcome::not_checked("the MTU is not known");
  const PrioritySet protect = priorities_to_protect(facts, *pfc, *buffers);
  if (protect.is_empty())
    return Outcome::not_checked("the RoCE class has no lossless buffer: see MAP-3, MAP-5 or PFC-1");

  const Mlx5Headroom headroom = headroom_of(facts, *pfc, *speed);
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  std::array<bool, kBuffers> judged{};
  for (const Priority p : protect.members()) {
    const std::size_t buffer = buffers->buffer_of_priority[static_cast<std::size_t>(p.value())];
    if (buffer >= kBuffers)
      return Outcome::not_checked(fmt::format("buffer {} is not among the sizes", buffer));
    if (std::exchange(judged[buffer], true)) continue;
    if (buffers->size[buffer] < headroom.minimum_lossless_buffer()) {
      findings.push_back(too_small(facts, *buffers, headroom, buffer));
    }
    seen.push_back(setting(fmt::format("size of buffer {}", buffer), buffers->size[buffer].count(), "B",
                           source::kBuffers));
    seen.push_back(
        setting("needed", headroom.minimum_lossless_buffer().count(), "B",
                fmt::format("headroom at {}, cable {}", to_text(*speed), to_text(headroom.cable))));
  }
  return findings.empty() ? Outcome::passed(std::move(seen)) : Outcome::found(std::move(findings));
}

// ---- ETS-1 ----

struct EtsView {
  const host::Ets& ets;
  std::size_t data_tc;
  std::size_t cnp_tc;
  bool uses_ets(std::size_t tc) const { return ets.tsa[tc] == host::Tsa::ets; }
  int sum() const {
    int out = 0;
    for (std::size_t tc = 0; tc < 8; ++tc) out += uses_ets(tc) ? ets.tx_share_percent[tc] : 0;
    return out;
  }
};

Evidence share_evidence(const EtsView& view, std::size_t tc) {
  const std::string value = view.uses_ets(tc) ? fmt::format("{}", view.ets.tx_share_percent[tc])
                                              : std::string(enum_name(view.ets.tsa[tc]));
  return setting(fmt::format("traffic class {}", tc), value, view.uses_ets(tc) ? "%" : "", source::kEts);
}

// A traffic class that some priority uses, shares by ETS, and gets nothing.
std::optional<std::size_t> starved_class(const EtsView& view) {
  for (const TrafficClass tc : view.ets.tc_of_priority) {
    const auto index = static_cast<std::size_t>(tc.value());
    if (view.uses_ets(index) && view.ets.tx_share_percent[index] == 0) return index;
  }
  return std::nullopt;
}

Outcome judge_shares(const PortFacts& facts) {
  Needs need;
  const host::Ets* ets = need(facts.port.dcb.ets, "ETS");
  if (ets == nullptr) return need.not_checked();
  if (!facts.roce_class)
    return Outcome::not_checked("no RoCE class is set up: its traffic class is not known");
  const auto tc_of = [&](Priority p) {
    return static_cast<std::size_t>(ets->tc_of_priority[static_cast<std::size_t>(p.value())].value());
  };
  const EtsView view{*ets, tc_of(facts.roce_class->priority), tc_of(facts.roce_class->cnp_priority)};
  std::vector<Evidence> seen{share_evidence(view, view.data_tc), share_evidence(view, view.cnp_tc)};
  // No share: the class is strict, which serves RoCE before others.
  if (ets->tsa[view.data_tc] == host::Tsa::vendor) {
    Finding finding;
    finding.severity = Severity::info;
    finding.evidence = std::move(seen);
    finding.cause = fmt::format(
        "Traffic class {} of RoCE is scheduled by the vendor's default: no share of the link is guaranteed "
        "to it.",
        view.data_tc);
    finding.fix = advise(fmt::format("Give traffic class {} at least {} by ETS, and CNPs a strict class.",
                                     view.data_tc, to_text(facts.policy.minimum_ets_share)));
    return Outcome::found(std::move(finding));
  }
  if (!view.uses_ets(view.data_tc)) return Outcome::passed(std::move(seen));

  Finding finding;
  finding.evidence = seen;
  const Ratio share = Ratio::from_percent(ets->tx_share_percent[view.data_tc]);
  const std::string minimum = to_text(facts.policy.minimum_ets_share);
  if (view.sum() != 100) {
    finding.evidence.push_back(setting("sum of shares", view.sum(), "%", source::kEts));
    finding.cause = fmt::format("The ETS shares add up to {} %, not to 100 %.", view.sum());
    finding.fix = advise("Set shares that add up to 100 %.");
  } else if (share < facts.policy.minimum_ets_share) {
    finding.cause =
        fmt::format("Traffic class {} of RoCE is guaranteed {} only: other traffic can push it below {}.",
                    view.data_tc, to_text(share), minimum);
    finding.fix = advise(fmt::format("Give traffic class {} at least {}.", view.data_tc, minimum));
  } else if (const auto starved = starved_class(view)) {
    finding.evidence.push_back(share_evidence(view, *starved));
    finding.cause =
        fmt::format("Traffic class {} is in use and has a share of 0 %: it can be starved.", *starved);
    finding.fix = advise(fmt::format("Give traffic class {} a share above 0 %.", *starved));
  } else if (share > facts.policy.maximum_ets_share) {
    finding.cause = fmt::format("Traffic class {} of RoCE takes {}: management can be starved.", view.data_tc,
                                to_text(share));
    finding.fix = advise(fmt::format("Leave other classes at least {}.",
                                     to_text(Ratio::one() - facts.policy.maximum_ets_share)));
  } else if (view.uses_ets(view.cnp_tc)) {
    finding.severity = Severity::info;
    finding.cause = fmt::format(
        "CNPs share by ETS in traffic class {}: strict would bring them through at once.", view.cnp_tc);
    finding.fix = advise(fmt::format("Make traffic class {} strict.", view.cnp_tc));
  } else {
    return Outcome::passed(std::move(seen));
  }
  return Outcome::found(std::move(finding));
}

}  // namespace

std::span<const Rule> buffers_rules() {
  static constexpr Rule kRules[] = {
      {.id = "PFC-3",
       .title = "The lossless buffer holds its headroom",
       .condition =
           "The receive buffer of the RoCE priority is at least the headroom of speed, MTU and cable, "
           "plus one largest packet and one cell.",
       .why = "What is on the wire when Xoff leaves still arrives; without room it is dropped although PFC "
              "works.",
       .needs = "PFC with the cable length, port buffers, link speed, MTU and largest MTU; the RoCE class.",
       .decided = "mlx5: (301 + 2.16 m) * Gb/s + 2.72 MTU, as its driver computes. Without PFC only a buffer "
                  "that is set apart for the RoCE priority is judged; buffers of other PFC priorities are "
                  "MAP-3's and MAP-7's matter.",
       .fix =
           "Enlarge the buffer within the port's total; taken from what is free, then from lossy buffer 0.",
       .source = "Linux mlx5/core/en/port_buffer.c",
       .gates = {},
       .judge = judge_headroom},
      {.id = "ETS-1",
       .title = "The RoCE class has its share and starves nobody",
       .condition =
           "By ETS: at least 50 %, at most 95 %, shares total 100 %, no class in use at 0 %, CNPs strict.",
       .why = "The share is what RoCE keeps when other traffic bursts; a class at 0 % can lose management.",
       .needs = "ETS; the RoCE class.",
       .decided = "Not a finding where RoCE is strict; info where the vendor's default schedules it, and for "
                  "CNPs that are not strict.",
       .fix = "Set the shares.",
       .source = "NVIDIA and ROCm/mori set-ups; Linux mlx5/core/en_dcbnl.c",
       .gates = {.any_nic = true},
       .judge = judge_shares},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
