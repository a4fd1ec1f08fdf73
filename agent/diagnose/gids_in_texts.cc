// GID-1 and GID-2 over what texts say of the GIDs that programs use, beside the tables of the hosts.
#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/gid_text.h"
#include "agent/evidence/logs/app_log.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

using evidence::GidText;

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

// ---- an index that is pinned, against the tables ----

std::vector<SettingSeen> pinned_indexes(const evidence::Dossier& dossier) {
  std::vector<SettingSeen> out = settings_in(dossier);
  std::erase_if(out, [](const SettingSeen& seen) {
    const std::string& name = seen.setting->name;
    return !(name == "NCCL_IB_GID_INDEX" || name == "UCX_IB_GID_INDEX" || name == "NVSHMEM_IB_GID_INDEX" ||
             name == "MC_GID_INDEX" || name == "RCCL_IB_GID_INDEX" || name == "UCCL_IB_GID_INDEX");
  });
  return out;
}

// NCCL reads an empty string as 0.
std::optional<int> index_of(const evidence::Setting& setting) {
  if (setting.value.empty()) return 0;
  const auto value = evidence::integer_of(setting.value);
  if (!value || *value < 0 || *value > 65535) return std::nullopt;
  return static_cast<int>(*value);
}

struct Slot {
  const PortSeen* seen;
  const host::Gid* gid;  // nullptr: empty
};

std::vector<Slot> slots_at(const std::vector<PortSeen>& ports, int index) {
  std::vector<Slot> out;
  for (const PortSeen& seen : ports) {
    if (seen.port->gids.empty() || seen.port->link_layer == host::LinkLayer::infiniband) continue;
    const auto found = std::find_if(seen.port->gids.begin(), seen.port->gids.end(),
                                    [&](const host::Gid& gid) { return gid.index == index; });
    out.push_back({&seen, found == seen.port->gids.end() ? nullptr : &*found});
  }
  return out;
}

std::string word_for(const host::Gid& gid) {
  const auto text = GidText::of(gid.address);
  std::string kind = text ? std::string(kind_name(text->kind())) : "unreadable";
  if (gid.type == host::GidType::roce_v1) kind += ", RoCE v1";
  if (gid.type == host::GidType::roce_v2) kind += ", RoCE v2";
  return kind;
}

Evidence evidence_of(const Slot& slot, int index) {
  return shown(fmt::format("{} GID {}", slot.seen->port->device, index),
               slot.gid == nullptr ? std::string("empty slot")
                                   : fmt::format("{} ({})", slot.gid->address, word_for(*slot.gid)),
               "", *slot.seen->document);
}

bool has_better(const host::RdmaPort& port) {
  return std::any_of(port.gids.begin(), port.gids.end(), [](const host::Gid& gid) {
    return gid.is_ipv4_mapped() && gid.type != host::GidType::roce_v1;
  });
}

Outcome judge_gid_kind(const DossierFacts& facts) {
  std::vector<Finding> findings;
  for (const SignsSeen& seen : signs_in(facts.dossier)) find_link_local(seen, findings);
  const std::vector<PortSeen> ports = rdma_ports_in(facts.dossier);
  const std::vector<SettingSeen> pinned = pinned_indexes(facts.dossier);
  std::vector<Evidence> good;
  std::set<std::pair<std::string, int>> judged;
  for (const SettingSeen& setting : pinned) {
    const auto index = index_of(*setting.setting);
    if (!index) continue;
    for (const Slot& slot : slots_at(ports, *index)) {
      if (slot.gid == nullptr ||
          !judged.insert({slot.seen->document->file + slot.seen->port->device, *index}).second)
        continue;
      const bool is_v1 = slot.gid->type == host::GidType::roce_v1;
      if (!slot.gid->is_link_local() && !is_v1) {
        good.push_back(evidence_of(slot, *index));
        continue;
      }
      Finding finding;
      finding.severity = Severity::critical;
      finding.subject = slot.seen->port->device;
      finding.evidence = {shown_setting(setting), evidence_of(slot, *index)};
      finding.cause = fmt::format(
          "The pinned index {} is a GID that does not leave the subnet ({}){}.", *index, word_for(*slot.gid),
          has_better(*slot.seen->port) ? ", although the table has a RoCE v2 GID with an IPv4 address" : "");
      finding.fix = advise(kChoose, {"show_gids"});
      findings.push_back(std::move(finding));
    }
  }
  // Nothing pinned, and something failed: many programs take index 0.
  if (pinned.empty() && findings.empty()) {
    for (const SignsSeen& seen : signs_in(facts.dossier)) {
      if (seen.signs->completions.empty() || seen.document->format != "app-log") continue;
      for (const Slot& slot : slots_at(ports, 0)) {
        if (slot.gid == nullptr || !slot.gid->is_link_local() || !has_better(*slot.seen->port)) continue;
        Finding finding;
        finding.confidence = Confidence::medium;
        finding.subject = slot.seen->port->device;
        finding.evidence = {
            evidence_of(slot, 0),
            quoted("failed completion", seen.signs->completions.first.front().quote, *seen.document)};
        finding.cause =
            "GID 0, which programs take by default, is link-local, while the table has a GID with an IPv4 "
            "address; requests "
            "failed.";
        finding.fix = advise(kChoose, {"show_gids"});
        findings.push_back(std::move(finding));
      }
    }
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  for (const SignsSeen& seen : signs_in(facts.dossier)) {
    for (const evidence::UsedGid& used : seen.signs->gids.first) {
      good.push_back(quoted("GID in use", used.quote, *seen.document));
    }
  }
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked(
      ports.empty() ? "no table of GIDs is among the inputs (show_gids, ibv_devinfo -v), of both ends"
                    : "nothing tells which GID index the programs use");
}

// ---- GID-2 ----

// perftest says itself that the ends do not fit, or its banner shows two kinds.
void find_unlike_ends(const DossierFacts& facts, std::vector<Finding>& findings,
                      std::vector<Evidence>& good) {
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
    for (const CommandSeen& command : commands_in(facts.dossier)) {
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

// One index over all devices and moments: the same kind of entry everywhere, and never an empty slot.
void find_moved_indexes(const DossierFacts& facts, std::vector<Finding>& findings,
                        std::vector<Evidence>& good) {
  const std::vector<PortSeen> ports = rdma_ports_in(facts.dossier);
  std::set<int> judged;
  for (const SettingSeen& setting : pinned_indexes(facts.dossier)) {
    const auto index = index_of(*setting.setting);
    if (!index || !judged.insert(*index).second) continue;
    const std::vector<Slot> slots = slots_at(ports, *index);
    std::map<std::string, const Slot*> kinds;
    std::set<host::GidType> types;
    std::set<GidText::Kind> address_kinds;
    const Slot* empty = nullptr;
    for (const Slot& slot : slots) {
      if (slot.gid == nullptr) {
        empty = &slot;
        continue;
      }
      kinds.emplace(word_for(*slot.gid), &slot);
      // A type that is not published is no other type.
      if (slot.gid->type != host::GidType::unknown) types.insert(slot.gid->type);
      if (const auto text = GidText::of(slot.gid->address)) address_kinds.insert(text->kind());
    }
    if (slots.empty()) continue;
    if (empty == nullptr && types.size() < 2 && address_kinds.size() < 2) {
      good.push_back(evidence_of(slots.front(), *index));
      continue;
    }
    Finding finding;
    finding.severity = empty != nullptr ? Severity::critical : Severity::warning;
    finding.subject = (empty != nullptr ? empty : kinds.begin()->second)->seen->port->device;
    finding.evidence = {shown_setting(setting)};
    if (empty != nullptr) finding.evidence.push_back(evidence_of(*empty, *index));
    for (const auto& [kind, slot] : kinds) finding.evidence.push_back(evidence_of(*slot, *index));
    finding.cause =
        empty != nullptr
            ? fmt::format(
                  "The pinned GID index {} is an empty slot on {}: entries move when addresses come and go.",
                  *index, empty->seen->port->device)
            : fmt::format(
                  "The pinned GID index {} means different kinds of GIDs on different devices or hosts.",
                  *index);
    finding.fix = advise(kChoose, {"show_gids"});
    findings.push_back(std::move(finding));
  }
}

Outcome judge_gid_agreement(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  find_unlike_ends(facts, findings, good);
  find_unlike_connections(facts, findings);
  find_moved_indexes(facts, findings, good);
  for (const SettingSeen& setting : pinned_indexes(facts.dossier)) {
    if (!setting.setting->value.empty()) continue;
    Finding finding;
    finding.subject = setting.setting->name;
    finding.evidence = {shown_setting(setting)};
    finding.cause =
        fmt::format("{} is set to an empty string, which is read as index 0, not as \"choose yourself\".",
                    setting.setting->name);
    finding.fix = advise("Unset the variable.", {fmt::format("unset {}", setting.setting->name)});
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked(
      "nothing shows the GIDs of both ends, or a pinned index beside a table of GIDs");
}

}  // namespace

std::span<const Rule> gids_in_texts_rules() {
  static constexpr Rule kRules[] = {
      {.id = "GID-1",
       .title = "Programs use a RoCE v2 GID with a routable address",
       .condition = "No log shows a link-local GID in use, and a pinned index is a RoCE v2 entry with a "
                    "routable address.",
       .why = "fe80:: and RoCE v1 do not leave the subnet: connections time out or retries run out at once.",
       .needs = "A log that names GIDs; or a pinned index and a table of GIDs.",
       .decided = "Critical for a link-local or RoCE v1 GID in use. Without a pinned index, failures of a "
                  "program on a table "
                  "whose index 0 is link-local: warning.",
       .fix = "Choose by type and subnet; leave the index to the library.",
       .source = "NVIDIA/nccl#769, #426, #1131; pytorch/gloo#147",
       .judge = judge_gid_kind},
      {.id = "GID-2",
       .title = "Both ends use GIDs of one kind, and a pinned index means the same everywhere",
       .condition = "The GIDs of a connection are of one kind; a pinned index is no empty slot and the same "
                    "kind of entry on "
                    "every device, host and at every moment.",
       .why = "Tables are filled first-free: an index moves when addresses come and go, and differs from "
              "host to host.",
       .needs =
           "perftest's banner or error, a log that names both GIDs, or a pinned index and tables of GIDs.",
       .decided =
           "Critical for different kinds and for an empty slot; warning where kinds differ between tables.",
       .fix = "Select by type; unset NCCL_IB_GID_INDEX; give each side of perftest its own -x.",
       .source = "linux-rdma/perftest#44; NVIDIA/nccl#2157, #2183",
       .judge = judge_gid_agreement},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
