#include <fmt/core.h>

#include "agent/diagnose/class_map.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

// ---- MAP-4, MAP-8 ----

// A byte below 64 that is our DSCP or priority was most likely written as such; the byte means DSCP byte
// >> 2.
bool is_raw_code(const PortFacts& facts, TosByte tos) {
  const WantedClass w = wanted(facts);
  const int byte = tos.wire();
  if (byte == 0 || tos.dscp() == w.dscp) return false;
  const auto leads = mapped_priority(facts.port, tos.dscp());
  if (leads && is_lossless(facts, *leads)) return false;
  return byte == w.dscp.value() || byte == w.priority.value() || byte == facts.policy.plan.data_dscp.value();
}

struct NamedTos {
  const char* name;
  const char* where;
  TosByte tos;
};
std::vector<NamedTos> tos_bytes(const host::RdmaPort& rdma) {
  std::vector<NamedTos> out;
  if (rdma.cm_default_tos) out.push_back({"default_roce_tos", "configfs rdma_cm", *rdma.cm_default_tos});
  if (rdma.global_traffic_class)
    out.push_back({"traffic_class", "sysfs tc/<port>", *rdma.global_traffic_class});
  return out;
}

Evidence tos_evidence(const NamedTos& named) {
  return setting(
      named.name,
      fmt::format("{} (DSCP {}, {})", named.tos.wire(), named.tos.dscp().value(), to_text(named.tos.ecn())),
      "", named.where);
}

Fix write_tos(const PortFacts& facts, const NamedTos& named, TosByte tos) {
  std::string text = fmt::format("Write {} into {}: DSCP {} times 4, plus ECT(0).", tos.wire(), named.name,
                                 tos.dscp().value());
  if (std::string_view(named.name) == "default_roce_tos") {
    return change_settings(
        facts, std::move(text),
        {{{facts.port.name, host::KnobKind::cm_default_tos, ""}, std::int64_t{tos.wire()}}});
  }
  return advise(std::move(text), {fmt::format("echo {} > /sys/class/infiniband/{}/tc/{}/traffic_class",
                                              tos.wire(), facts.rdma()->device, facts.rdma()->port)});
}

Outcome judge_tos_byte(const PortFacts& facts) {
  Needs need;
  const host::RdmaPort* rdma = need(facts.port.rdma, "RDMA device");
  if (rdma == nullptr) return need.not_checked();
  const std::vector<NamedTos> all = tos_bytes(*rdma);
  if (all.empty()) {
    need(rdma->cm_default_tos, "default_roce_tos");
    need(rdma->global_traffic_class, "traffic_class");
    return need.not_checked();
  }
  const TosByte right = tos_of(wanted(facts).dscp);
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  for (const NamedTos& named : all) {
    seen.push_back(tos_evidence(named));
    Finding finding;
    finding.evidence = {seen.back()};
    finding.fix = write_tos(facts, named, right);
    if (is_raw_code(facts, named.tos)) {
      finding.cause = fmt::format(
          "{} holds {}: that is a bare DSCP or priority where the whole ToS byte belongs, so packets leave "
          "with DSCP {}.",
          named.name, named.tos.wire(), named.tos.dscp().value());
      findings.push_back(std::move(finding));
    } else if (!facts.nic->ignores_ecn_of_tos && named.tos.dscp() == right.dscp() &&
               named.tos.ecn() == Ecn::not_ect) {
      finding.severity = Severity::info;
      finding.confidence = Confidence::medium;
      finding.cause =
          fmt::format("{} leaves the ECN bits at 00: on this kind of NIC switches may not mark such packets.",
                      named.name);
      findings.push_back(std::move(finding));
    }
  }
  return findings.empty() ? Outcome::passed(std::move(seen)) : Outcome::found(std::move(findings));
}

Outcome judge_cm_class(const PortFacts& facts) {
  Needs need;
  const host::RdmaPort* rdma = need(facts.port.rdma, "RDMA device");
  const TosByte* tos = rdma == nullptr ? nullptr : need(rdma->cm_default_tos, "default_roce_tos");
  if (tos == nullptr) return need.not_checked();
  if (!facts.roce_class || !facts.roce_class->dscp)
    return Outcome::not_checked("no RoCE class to compare with");
  if (is_raw_code(facts, *tos)) return Outcome::not_checked("default_roce_tos holds a bare code: see MAP-4");
  const NamedTos named{"default_roce_tos", "configfs rdma_cm", *tos};
  const RoceClass& c = *facts.roce_class;
  const bool leads_there = tos->dscp() == c.dscp || mapped_priority(facts.port, tos->dscp()) == c.priority;
  if (leads_there) return Outcome::passed({tos_evidence(named)});
  Finding finding;
  finding.evidence = {tos_evidence(named)};
  finding.fix = write_tos(facts, named, tos_of(*c.dscp));
  if (tos->wire() == 0) {
    finding.severity = Severity::info;
    finding.cause =
        "Queue pairs made by rdma_cm (UCX, storage, perftest -R) leave unmarked unless the application sets "
        "a ToS.";
  } else {
    finding.cause =
        fmt::format("Queue pairs made by rdma_cm leave with DSCP {}, which is not the RoCE class (DSCP {}).",
                    tos->dscp().value(), c.dscp->value());
  }
  finding.confidence = c.confidence;
  return Outcome::found(std::move(finding));
}

}  // namespace

std::span<const Rule> tos_bytes_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MAP-4",
       .title = "ToS bytes hold DSCP times 4, plus ECN",
       .condition = "default_roce_tos and traffic_class do not hold a bare DSCP or priority.",
       .why = "26 written as a ToS byte means DSCP 6: the most common mistake of the field.",
       .needs = "configfs rdma_cm default_roce_tos; on vendor drivers sysfs tc/<port>/traffic_class.",
       .decided = "Finding if the byte equals the class's DSCP or priority and its own DSCP leads to no "
                  "lossless class. Info if the ECN bits are 00 on a NIC that sends them as given.",
       .fix = "Write DSCP * 4 + 2.",
       .source = "dmf-mxl/mxl#603; Linux hw/mlx5/qp.c (DSCP = traffic_class >> 2)",
       .gates = {},
       .judge = judge_tos_byte},
      {.id = "MAP-8",
       .title = "Connections made by rdma_cm carry the class",
       .condition = "default_roce_tos leads to the RoCE class.",
       .why =
           "It is the only class of applications that use rdma_cm and set no ToS themselves. Verbs "
           "applications and DevX queue pairs do not use it: their class is in their own settings, which a "
           "host does not show.",
       .needs = "configfs rdma_cm default_roce_tos; the RoCE class.",
       .decided = "Info if it is 0; warning if it holds another class. Not checked where the directory was "
                  "never made.",
       .fix = "Write the class's ToS byte.",
       .source = "Linux drivers/infiniband/core/cma_configfs.c; NVIDIA/nccl#2383",
       .gates = {},
       .judge = judge_cm_class},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
