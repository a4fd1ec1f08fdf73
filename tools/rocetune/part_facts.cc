#include "tools/rocetune/part_facts.h"

#include <fmt/core.h>

namespace rocetune::cli {
namespace {

Observed<std::vector<verbs::Device>> read_rdma_devices(const std::string& root) {
  if (root != "/") return absent("verbs shows the devices of the running kernel, not those of another root");
  const Expected<verbs::VerbsPart*> part = open_part<verbs::VerbsPart>();
  if (!part) return unavailable(part.error());
  Expected<std::vector<verbs::Device>> devices = (*part)->devices();
  if (!devices) return unavailable(devices.error());
  return *std::move(devices);
}

Observed<dpdk::DpdkFacts> read_dpdk(const std::string& root) {
  if (root != "/") return absent("DPDK would start on the running machine, not on another root");
  const Expected<dpdk::DpdkPart*> part = open_part<dpdk::DpdkPart>();
  if (!part) return unavailable(part.error());
  return (*part)->facts(root);
}

std::string odp_text(const std::optional<verbs::Odp>& odp) {
  if (!odp) return "no on-demand paging";
  return odp->implicit ? "on-demand paging of the whole address space" : "on-demand paging by region";
}

}  // namespace

PartFacts read_part_facts(const std::string& root) {
  return {.parts = survey_parts(), .rdma_devices = read_rdma_devices(root), .dpdk = read_dpdk(root)};
}

std::string verbs_text(const verbs::DeviceFacts& facts) {
  std::string text =
      fmt::format("{} queue pairs of {} requests, {} memory regions, {}, atomics {}", facts.max_qp,
                  facts.max_qp_wr, facts.max_mr, odp_text(facts.odp), enum_name(facts.atomics));
  if (facts.packet_pacing) {
    text += fmt::format(", pacing {} to {}", to_text(facts.packet_pacing->min),
                        to_text(facts.packet_pacing->max));
  }
  if (facts.device_memory) text += fmt::format(", {} on the NIC", to_text(*facts.device_memory));
  if (facts.mlx5 && facts.mlx5->cqe_compression_max) {
    text += fmt::format(", up to {} completions in one", *facts.mlx5->cqe_compression_max);
  }
  return text;
}

std::string dpdk_text(const dpdk::DpdkFacts& facts) {
  if (facts.could_start) return facts.version + " could start with huge pages";
  std::string text = facts.version + " could not start";
  std::string separator = ": ";
  for (const dpdk::Requirement& requirement : facts.requirements) {
    if (requirement.state == dpdk::Requirement::State::met) continue;
    text += fmt::format("{}needs {} ({})", separator, requirement.what, requirement.evidence);
    separator = "; ";
  }
  return text;
}

}  // namespace rocetune::cli
