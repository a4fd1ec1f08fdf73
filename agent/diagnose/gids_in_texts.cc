// GID-1 and GID-2 over what texts say of the GIDs that programs use, beside the tables of the hosts.
#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/gid_text.h"
#include "agent/evidence/logs/app_log.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

constexpr const char* kChoose =
    "Choose the GID by type, not by number: RoCE v2 with the port's IPv4 address. NCCL from 2.21 on picks it "
    "by itself when "
    "NCCL_IB_GID_INDEX is unset (unset, not empty: an empty string reads as 0); perftest takes -x on each "
    "side, with each "
    "side's own index.";

// ---- GIDs that a program says it uses ----

void find_link_local(const SignsSeen& seen, std::vector<Finding>& findings) {
  Finding finding;
  const auto note = [&](const std::string& device, const evidence::Quote& quote, const std::string& what) {
    if (finding.evidence.size() < 4) finding.evidence.push_back(quoted(what, quote, *seen.document));
    if (finding.subject.empty())
      finding.subject = !device.empty() ? device : quote.host.empty() ? seen.document->file : quote.host;
  };
  for (const evidence::UsedGid& used : seen.signs->gids.first) {
    if (used.gid.is_link_local()) note(used.device, used.quote, "link-local GID in use");
  }
  for (const evidence::FailedCompletion& failed : seen.signs->completions.first) {
    if (failed.is_infiniband) continue;
    const bool local =
        (failed.local && failed.local->is_link_local()) || (failed.remote && failed.remote->is_link_local());
    if (local) note(failed.device, failed.quote, "failed over a link-local GID");
  }
  for (const evidence::FailedQpSetup& failed : seen.signs->qp_setups.first) {
    const bool local =
        (failed.local && failed.local->is_link_local()) || (failed.remote && failed.remote->is_link_local());
    if (local) note(failed.device, failed.quote, "set up over a link-local GID");
  }
  if (finding.evidence.empty()) return;
  finding.severity = Severity::critical;
  finding.cause =
      "The program uses a link-local GID (fe80::): it is not routed, and no neighbour is found for it beyond "
      "the own subnet.";
  finding.fix = advise(kChoose, {"show_gids"});
  findings.push_back(std::move(finding));
}

Outcome judge_gid_kind(const DossierFacts& facts) {
  std::vector<Finding> findings;
  for (const SignsSeen& seen : signs_in(facts.dossier)) find_link_local(seen, findings);
  std::vector<Evidence> good;
  if (!findings.empty()) return Outcome::found(std::move(findings));
  for (const SignsSeen& seen : signs_in(facts.dossier)) {
    for (const evidence::UsedGid& used : seen.signs->gids.first) {
      good.push_back(quoted("GID in use", used.quote, *seen.document));
    }
  }
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked(
      "no log names the GIDs that programs use; show_gids or ibv_devinfo -v of both ends would tell");
}

// ---- GID-2 ----

// perftest says itself that the ends do not fit, or its banner shows two kinds.
void find_unlike_ends(const DossierFacts& facts, std::vector<Finding>& findings,
                      std::vector<Evidence>& good) {
  const std::vector<CommandSeen> commands = commands_in(facts.dossier);
  for (const RunSeen& seen : perftest_runs_in(facts.dossier)) {
    const evidence::PerftestRun& run = *seen.run;
    const bool banner_differs =
        !run.local.empty() && !run.remote.empty() && run.local.front().kind() != run.remote.front().kind();
    if (!run.gid_types_differ && !banner_differs) {
      if (!run.local.empty() && !run.remote.empty()) {
        good.push_back(shown("GIDs of both ends",
                             fmt::format("{} and {}", run.local.front().text(), run.remote.front().text()),
                             "", *seen.document, run.line));
      }
      continue;
    }
    Finding finding;
    finding.severity = Severity::critical;
    finding.subject = run.device.empty() ? seen.document->file : run.device;
    if (run.gid_types_differ) {
      for (const evidence::Quote& quote : run.errors) {
        if (evidence::contains(quote.text, "GID types"))
          finding.evidence.push_back(quoted("perftest", quote, *seen.document));
      }
    }
    if (run.gid_index)
      finding.evidence.push_back(shown("GID index", *run.gid_index, "", *seen.document, run.line));
    if (banner_differs) {
      finding.evidence.push_back(shown("own GID", run.local.front().text(), "", *seen.document, run.line));
      finding.evidence.push_back(
          shown("peer's GID", run.remote.front().text(), "", *seen.document, run.line));
    }
    for (const CommandSeen& command : commands) {
      const std::string_view index = command.command->value_of("-x");
      if (command.command->program.starts_with("ib_") && !index.empty()) {
        finding.evidence.push_back(
            shown(command.command->program + " -x", index, "", *command.document, command.command->line));
      }
    }
    finding.cause =
        "The two ends use GIDs of different kind (link-local against IPv4, or RoCE v1 against v2): the same "
        "or a default index "
        "means different entries on each side.";
    finding.fix = advise(
        "Give each side its own index with -x: the one whose row says RoCE v2 and the IPv4 address; the "
        "numbers may differ.",
        {"show_gids"});
    findings.push_back(std::move(finding));
  }
}

// Logs name both GIDs of a connection.
void find_unlike_connections(const DossierFacts& facts, std::vector<Finding>& findings) {
  for (const SignsSeen& seen : signs_in(facts.dossier)) {
    for (const evidence::FailedQpSetup& failed : seen.signs->qp_setups.first) {
      if (!failed.local || !failed.remote || failed.local->kind() == failed.remote->kind()) continue;
      Finding finding;
      finding.severity = Severity::critical;
      finding.subject = failed.device.empty() ? seen.document->file : failed.device;
      finding.evidence = {quoted("queue pair set-up", failed.quote, *seen.document)};
      finding.cause = fmt::format(
          "The own GID is {} ({}), the peer's {} ({}): one index means different entries on the two hosts.",
          failed.local->text(), kind_name(failed.local->kind()), failed.remote->text(),
          kind_name(failed.remote->kind()));
      finding.fix = advise(kChoose, {"show_gids"});
      findings.push_back(std::move(finding));
      return;
    }
  }
}

Outcome judge_gid_agreement(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  find_unlike_ends(facts, findings, good);
  find_unlike_connections(facts, findings);
  return Outcome::of(std::move(findings), std::move(good),
                     "nothing shows the GIDs of both ends of a connection");
}

}  // namespace

std::span<const Rule> gids_in_texts_rules() {
  static constexpr Rule kRules[] = {
      {.id = "GID-1",
       .title = "Programs use GIDs that are routed",
       .condition = "No log shows a link-local GID in use.",
       .why = "fe80:: does not leave the subnet: connections time out or retries run out at once.",
       .needs = "A log of a program that names the GIDs it uses, or those of a connection that failed.",
       .decided = "Critical for a link-local GID; lines of InfiniBand links do not count.",
       .fix = "Choose by type and subnet; leave the index to the library.",
       .source = "NVIDIA/nccl#769, #426; openucx/ucx#6000; kvcache-ai/Mooncake#204",
       .gates = {},
       .judge = judge_gid_kind},
      {.id = "GID-2",
       .title = "Both ends of a connection use GIDs of one kind",
       .condition = "perftest and logs show GIDs of one kind at both ends.",
       .why = "One index means different entries on two hosts.",
       .needs = "perftest's banner or error, or a log that names both GIDs.",
       .decided = "Critical for different kinds.",
       .fix = "Give each side its own index, or none.",
       .source = "linux-rdma/perftest#44; NVIDIA/nccl#2157",
       .gates = {},
       .judge = judge_gid_agreement},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
