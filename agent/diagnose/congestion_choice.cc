// CC-1: whether another congestion control or transport option than thought is in charge, by A/B.
#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

// Whether ECE was on for a document's run, as far as its file says; nothing if it does not.
std::optional<bool> ece_of(const DossierFacts& facts, const evidence::Document& document) {
  for (const ShownSetting& seen : shown_settings(facts, "NCCL_IB_ECE_ENABLE")) {
    if (seen.document->file == document.file) return seen.setting->value != "0";
  }
  // An environment of the same moment; where only the other moment sets it, it was at its default, on.
  bool other_moment = false;
  for (const ShownSetting& seen : shown_settings(facts, "NCCL_IB_ECE_ENABLE")) {
    if (!seen.document->phase || !document.phase) continue;
    if (seen.document->phase->text == document.phase->text) return seen.setting->value != "0";
    other_moment |= seen.setting->value == "0";
  }
  if (other_moment) return true;
  const std::string name = evidence::lower_case(document.file);
  if (!evidence::contains(name, "ece")) return std::nullopt;
  if (evidence::contains_any(name, {"ece0", "ece-0", "ece_0", "ece-off", "ece_off", "eceoff", "no-ece",
                                    "noece", "no_ece", "without-ece", "ece-disabled"}))
    return false;
  if (evidence::contains_any(
          name, {"ece1", "ece-1", "ece_1", "ece-on", "ece_on", "eceon", "with-ece", "ece-enabled"}))
    return true;
  return std::nullopt;
}

struct Result {
  const evidence::Document* document;
  double busbw_gbytes_per_s;
};

Outcome judge_choice(const DossierFacts& facts) {
  std::optional<Result> with, without;
  for (const auto& [document, tests] : facts.dossier.all<evidence::NcclTests>()) {
    const auto ece = ece_of(facts, *document);
    if (!ece || tests->busbw_max_gbytes_per_s() <= 0) continue;
    (*ece ? with : without) = Result{document, tests->busbw_max_gbytes_per_s()};
  }
  const evidence::NcclEce* ece = nullptr;
  const evidence::Document* ece_document = nullptr;
  for (const auto& [document, log] : facts.dossier.all<evidence::NcclLog>()) {
    if (log->ece && ece == nullptr) {
      ece = &*log->ece;
      ece_document = document;
    }
  }
  if (with && without) {
    std::vector<Evidence> evidence{
        shown("busbw with ECE", fmt::format("{:.2f}", with->busbw_gbytes_per_s), "GB/s", *with->document),
        shown("busbw without ECE", fmt::format("{:.2f}", without->busbw_gbytes_per_s), "GB/s",
              *without->document)};
    if (ece != nullptr) evidence.push_back(quoted("ECE options", ece->quote, *ece_document));
    if (with->busbw_gbytes_per_s >= facts.policy.bench.gap_share.value() * without->busbw_gbytes_per_s)
      return Outcome::passed(std::move(evidence));
    Finding finding;
    finding.subject = with->document->file;
    finding.evidence = std::move(evidence);
    finding.cause =
        "With enhanced connection establishment the NICs agree on other transport options (congestion "
        "control, retransmission), and the rate "
        "falls.";
    finding.fix = advise(
        "Run with NCCL_IB_ECE_ENABLE=0, bring both ends to the same firmware, and check ROCE_CC and "
        "programmable congestion control "
        "(ECN-5) before any PFC change.",
        {"mlxconfig -d DEVICE q | grep -E 'ROCE_CC|USER_PROGRAMMABLE_CC'"});
    return Outcome::found(std::move(finding));
  }
  if (ece != nullptr) {
    return Outcome::not_checked(
        "the log shows that ECE options were agreed on, but no result without them (NCCL_IB_ECE_ENABLE=0) to "
        "compare with");
  }
  return Outcome::not_checked(
      "nothing shows which transport options or congestion control the connections agreed on, and no A/B "
      "with "
      "NCCL_IB_ECE_ENABLE=0");
}

}  // namespace

std::span<const Rule> congestion_choice_rules() {
  static constexpr Rule kRules[] = {
      {.id = "CC-1",
       .title = "Connections use the congestion control that was meant",
       .condition = "Results with and without ECE are alike.",
       .why =
           "Options negotiated between NICs can put another congestion control or retransmission in charge.",
       .needs = "Results with NCCL_IB_ECE_ENABLE 1 and 0.",
       .decided = "Warning where the one with ECE is below 80 % of the other.",
       .fix = "NCCL_IB_ECE_ENABLE=0; same firmware on both ends.",
       .source = "NVIDIA/nccl#1403",
       .gates = {},
       .judge = judge_choice},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
