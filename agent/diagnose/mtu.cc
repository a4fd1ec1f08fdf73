#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

// The RDMA MTU that the kernel picks under a netdev's MTU: the largest of 256 to 4096 that fits beside the
// headers (iboe_get_mtu, include/rdma/ib_addr.h). Nothing if not even 256 fits.
std::optional<Bytes> rdma_mtu_under(Bytes netdev_mtu, Bytes overhead) {
  for (const std::int64_t size : {4096, 2048, 1024, 512, 256}) {
    if (netdev_mtu - overhead >= Bytes(size)) return Bytes(size);
  }
  return std::nullopt;
}

// Only the RDMA port's MTU is shown, as by ibv_devinfo.
Outcome judge_active_mtu(const PortFacts& facts) {
  if (facts.rdma() == nullptr || !facts.rdma()->active_mtu)
    return Outcome::not_checked("the MTU is not known");
  const host::RdmaPort& rdma = *facts.rdma();
  const Evidence seen = setting("RDMA active_mtu", rdma.active_mtu->count(), "B", source::kRdma);
  if (!rdma.state.empty() && rdma.state != "ACTIVE")
    return Outcome::not_checked("the port is not active: its MTU means nothing");
  const Bytes largest = std::min(Bytes(4096), rdma.max_mtu.value_or(Bytes(4096)));
  if (*rdma.active_mtu >= largest) return Outcome::passed({seen});
  Finding finding;
  if (facts.nic != nullptr && !facts.nic->is_hardware) finding.severity = Severity::info;
  finding.confidence = rdma.link_layer == host::LinkLayer::ethernet ? Confidence::high : Confidence::medium;
  finding.evidence = {seen};
  finding.cause = fmt::format(
      "The RDMA MTU is {}, where {} would carry the same data in fewer packets: the netdev's MTU is too "
      "small for it{}.",
      rdma.active_mtu->count(), largest.count(), *rdma.active_mtu == Bytes(1024) ? " (1500 as a rule)" : "");
  finding.fix = advise(fmt::format("Set the MTU to {} on both hosts, and on every switch port between them.",
                                   facts.policy.recommended_mtu.count()),
                       {fmt::format("ip link set dev NETDEV mtu {}", facts.policy.recommended_mtu.count())});
  return Outcome::found(std::move(finding));
}

Outcome judge_mtu(const PortFacts& facts) {
  const Bytes mtu = facts.port.mtu;
  if (mtu <= Bytes(0)) return judge_active_mtu(facts);
  std::vector<Evidence> evidence{setting("netdev MTU", mtu.count(), "B", source::kNetdev)};
  const std::optional<Bytes> active = facts.rdma() == nullptr ? std::nullopt : facts.rdma()->active_mtu;
  if (active) evidence.push_back(setting("RDMA active_mtu", active->count(), "B", source::kRdma));
  const std::optional<Bytes> expected = rdma_mtu_under(mtu, facts.policy.roce_overhead);

  Finding finding;
  if (facts.nic != nullptr && !facts.nic->is_hardware) finding.severity = Severity::info;
  if (mtu < facts.policy.minimum_mtu) {
    finding.evidence = std::move(evidence);
    finding.cause = fmt::format(
        "A netdev MTU of {} allows an RDMA MTU of {} only, where 4096 would carry the same data in fewer "
        "packets.",
        mtu.count(), expected ? fmt::format("{}", expected->count()) : std::string("less than 256"));
    const Bytes wanted =
        std::min(facts.policy.recommended_mtu, facts.port.max_mtu.value_or(facts.policy.recommended_mtu));
    finding.fix =
        change_settings(facts,
                        fmt::format("Set the MTU to {} on both hosts, and on every switch port between them.",
                                    wanted.count()),
                        {{{facts.port.name, host::KnobKind::mtu, ""}, wanted.count()}});
    return Outcome::found(std::move(finding));
  }
  if (active && expected && *active < *expected) {
    finding.evidence = std::move(evidence);
    finding.confidence = Confidence::medium;
    finding.cause = fmt::format("The RDMA MTU is {}, although a netdev MTU of {} allows {}.", active->count(),
                                mtu.count(), expected->count());
    finding.fix =
        advise("Set the netdev's MTU again, or take the link down and up: the RDMA port follows then.");
    return Outcome::found(std::move(finding));
  }
  return Outcome::passed(std::move(evidence));
}

}  // namespace

std::span<const Rule> mtu_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MTU-1",
       .title = "The MTU allows RDMA packets of 4096 bytes",
       .condition = "The netdev's MTU is at least 4192; 9000 is usual.",
       .why = "The RDMA MTU is the largest power of two that fits under it less 96 bytes; 1500 gives 1024, "
              "four times the packets.",
       .needs = "MTU of the netdev; active_mtu of the RDMA port.",
       .decided = "Finding below 4192, or if active_mtu is less than the netdev allows; where only "
                  "active_mtu is known, "
                  "below 4096. Info on software RDMA.",
       .fix = "Set 9000 on both hosts and the switch.",
       .source = "Linux include/rdma/ib_addr.h (iboe_get_mtu); NVIDIA/dgx-spark-playbooks#102, #103",
       .gates = {.any_function = true, .any_nic = true},
       .judge = judge_mtu},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
