// GID tables that were handed over, against each other and against the index that is asked for.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/shown_ports.h"
#include "agent/evidence/rdma_tools/kernel_log.h"
#include "agent/host/gid_address.h"

namespace rocetune::diagnose {
namespace {

// What an index is good for.
enum class Use { routable, link_local, roce_v1, nothing };

Use use_of(const host::Gid& gid) {
  const bool routable = gid.is_ipv4_mapped() || host::is_global_ipv6(gid.address);
  if (gid.type == host::GidType::roce_v1) return Use::roce_v1;
  if (routable) return Use::routable;
  return gid.is_link_local() ? Use::link_local : Use::nothing;
}

std::optional<std::size_t> place_of(const ShownPort& table, int index) {
  const auto& gids = table.view->rdma.gids;
  for (std::size_t i = 0; i < gids.size(); ++i) {
    if (gids[i].index == index) return i;
  }
  return std::nullopt;
}

bool has_unpublished_types(const ShownPort& table) {
  const auto& gids = table.view->rdma.gids;
  return std::all_of(gids.begin(), gids.end(),
                     [](const host::Gid& gid) { return gid.type == host::GidType::unknown; });
}

bool is_about(const PinnedIndex& pinned, const ShownPort& table) {
  return may_be_one_host(pinned.host, table.host()) &&
         (pinned.device.empty() || table.view->rdma.device.empty() ||
          pinned.device == table.view->rdma.device);
}

// InfiniBand and iWARP have GIDs too; there is nothing to choose in them.
bool is_roce_table(const ShownPort& table) {
  if (table.view->is_infiniband()) return false;
  const auto& gids = table.view->rdma.gids;
  return table.view->rdma.link_layer == host::LinkLayer::ethernet ||
         std::any_of(gids.begin(), gids.end(), [](const host::Gid& gid) {
           return gid.type == host::GidType::roce_v2 || gid.is_ipv4_mapped();
         });
}

std::vector<ShownPort> roce_tables(const DossierFacts& facts) {
  std::vector<ShownPort> out = shown_gid_tables(facts);
  std::erase_if(out, [](const ShownPort& table) { return !is_roce_table(table); });
  return out;
}

std::string best_text(const ShownPort& table) {
  const auto best = evidence::best_gid_index(table.view->rdma.gids);
  return best ? fmt::format("; here index {} is the routable one", *best) : std::string();
}

// ---- GID-1 ----

// Leave the number away: the library looks for type and address family by itself.
constexpr const char* kChooseByType =
    "Do not set an index: leave NCCL_IB_GID_INDEX away (NCCL 2.21 and later choose by "
    "NCCL_IB_ROCE_VERSION_NUM=2 "
    "and NCCL_IB_ADDR_FAMILY=AF_INET)";

std::optional<Finding> judge_pinned(const PinnedIndex& pinned, const ShownPort& table) {
  const auto at = place_of(table, pinned.index);
  if (!at) return std::nullopt;  // GID-2
  const Use use = use_of(table.view->rdma.gids[*at]);
  if (use == Use::routable) return std::nullopt;
  Finding finding;
  finding.severity = use == Use::link_local ? Severity::critical : Severity::warning;
  finding.subject = table.subject();
  finding.evidence = {pinned.evidence, table.gid(*at)};
  if (use == Use::link_local) {
    finding.cause = fmt::format(
        "GID index {} is a link-local address (fe80): it has no route, its neighbour is not resolved across "
        "subnets, and queue pairs time out when they are set up{}.",
        pinned.index, best_text(table));
  } else if (use == Use::roce_v1) {
    finding.cause = fmt::format(
        "GID index {} is RoCE v1: no IP header, so no route beyond the first switch, no DSCP and no ECN{}.",
        pinned.index, best_text(table));
  } else {
    finding.cause =
        fmt::format("GID index {} is no address that is routed{}.", pinned.index, best_text(table));
  }
  const auto best = evidence::best_gid_index(table.view->rdma.gids);
  finding.fix = advise(
      fmt::format("{}{}; compare the tables of all nodes.", kChooseByType,
                  best ? fmt::format(", or take index {} on this node", *best)
                       : std::string(", and give the port an address that is routed")),
      {"show_gids", fmt::format("ibv_devinfo -v -d {} | grep GID",
                                table.view->rdma.device.empty() ? "DEVICE" : table.view->rdma.device)});
  return finding;
}

// Nobody can choose by type where the driver publishes none: programs that take index 0 get what stands
// there.
std::optional<Finding> judge_default_index(const ShownPort& table) {
  const auto best = evidence::best_gid_index(table.view->rdma.gids);
  const auto at = place_of(table, 0);
  if (!best || *best == 0 || !at || !has_unpublished_types(table)) return std::nullopt;
  if (use_of(table.view->rdma.gids[*at]) != Use::link_local) return std::nullopt;
  Finding finding;
  finding.severity = Severity::info;
  finding.confidence = Confidence::medium;
  finding.subject = table.subject();
  finding.evidence = {table.gid(*at), table.gid(*place_of(table, *best))};
  finding.cause = fmt::format(
      "Index 0, which many programs take unless told otherwise, is link-local; index {} has the IPv4 "
      "address. The "
      "driver publishes no types, so that a library cannot choose by itself.",
      *best);
  finding.fix = advise(fmt::format("Give programs GID index {} on this device.", *best));
  return finding;
}

Outcome judge_shown_gids(const DossierFacts& facts) {
  const std::vector<ShownPort> tables = roce_tables(facts);
  const std::vector<PinnedIndex> pinned = pinned_gid_indices(facts);
  if (tables.empty()) {
    if (is_infiniband_fabric(facts)) return Outcome::not_checked("the fabric is InfiniBand (NET-3)");
    return Outcome::not_checked(
        fmt::format("no GID table (show_gids, ibv_devinfo -v) of a RoCE port is among the inputs{}",
                    pinned.empty() ? "" : ": what the index that is set means is not known"));
  }
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const ShownPort& table : tables) {
    for (const PinnedIndex& index : pinned) {
      if (!is_about(index, table) || findings.size() >= kMostShownFindings) continue;
      if (auto finding = judge_pinned(index, table)) {
        findings.push_back(std::move(*finding));
      } else if (const auto at = place_of(table, index.index)) {
        good.push_back(table.gid(*at));
      }
    }
    if (auto finding = pinned.empty() ? judge_default_index(table) : std::nullopt) {
      findings.push_back(std::move(*finding));
    } else if (const auto best = evidence::best_gid_index(table.view->rdma.gids)) {
      good.push_back(table.gid(*place_of(table, *best)));
    }
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no table shows a routable RoCE v2 GID, and no index is set");
}

// ---- GID-2 ----

// The same address and type at another index, or something else at the same index.
std::optional<Finding> drift(const ShownPort& before, const ShownPort& after) {
  Finding finding;
  for (std::size_t i = 0; i < before.view->rdma.gids.size() && finding.evidence.size() < 6; ++i) {
    const host::Gid& was = before.view->rdma.gids[i];
    const auto at = place_of(after, was.index);
    const bool same = at && after.view->rdma.gids[*at].address == was.address &&
                      after.view->rdma.gids[*at].type == was.type;
    if (same) continue;
    const auto& gids = after.view->rdma.gids;
    const auto moved = std::find_if(gids.begin(), gids.end(), [&](const host::Gid& gid) {
      return gid.address == was.address && gid.type == was.type && gid.netdev == was.netdev;
    });
    if (moved == gids.end() && !at) continue;  // gone, as an address that was taken off
    finding.evidence.push_back(before.gid(i));
    finding.evidence.push_back(
        after.gid(moved != gids.end() ? static_cast<std::size_t>(moved - gids.begin()) : *at));
  }
  if (finding.evidence.empty()) return std::nullopt;
  finding.subject = after.subject();
  finding.cause =
      "GIDs stand at other indices than before: the table is filled first-free, and every change of a link, "
      "address or MTU can move entries. A pinned index then names another GID or an empty slot.";
  finding.fix = advise(fmt::format(
      "{}; look for what made the port register anew (link flap, driver reload).", kChooseByType));
  return finding;
}

std::vector<Finding> drifts(const DossierFacts& facts) {
  std::vector<Finding> findings;
  for (const evidence::Pair& pair : facts.dossier.pairs()) {
    const auto* before = pair.before->as<evidence::RdmaView>();
    const auto* after = pair.after->as<evidence::RdmaView>();
    if (before == nullptr || after == nullptr) continue;
    for (const evidence::RdmaPortView& was : before->ports) {
      for (const evidence::RdmaPortView& is : after->ports) {
        if (was.rdma.device != is.rdma.device || was.rdma.port != is.rdma.port) continue;
        auto finding = drift({pair.before, &was}, {pair.after, &is});
        if (finding && findings.size() < kMostShownFindings) findings.push_back(std::move(*finding));
      }
    }
  }
  return findings;
}

// An index that is set and that the table does not have.
std::vector<Finding> empty_slots(const std::vector<PinnedIndex>& indexes,
                                 const std::vector<ShownPort>& tables) {
  std::vector<Finding> findings;
  for (const PinnedIndex& pinned : indexes) {
    for (const ShownPort& table : tables) {
      if (!is_about(pinned, table) || place_of(table, pinned.index) || findings.size() >= kMostShownFindings)
        continue;
      Finding finding;
      finding.confidence = Confidence::medium;
      finding.subject = table.subject();
      finding.evidence = {pinned.evidence, table.gid(table.view->rdma.gids.size() - 1)};
      finding.cause = fmt::format(
          "GID index {} is asked for, and {} shows no entry there: setting up a queue pair with an empty "
          "slot fails "
          "(errno 61, no data available){}.",
          pinned.index, table.document->file, best_text(table));
      finding.fix = advise(kChooseByType + std::string("; each side may need another index."));
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

// By its file where nothing else tells the two apart.
std::string end_name(const ShownPort& port, const ShownPort& other) {
  return port.subject() == other.subject() ? port.document->file + " " + port.subject() : port.subject();
}

// One number for NCCL and its kin is for all devices and all hosts: it must mean the same there.
std::optional<Finding> different_meaning(const std::vector<ShownPort>& tables, bool is_pinned) {
  std::vector<std::optional<int>> best;
  for (const ShownPort& table : tables) best.push_back(evidence::best_gid_index(table.view->rdma.gids));
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (std::size_t j = i + 1; j < tables.size(); ++j) {
      const ShownPort &a = tables[i], &b = tables[j];
      const auto &best_a = best[i], &best_b = best[j];
      if (!best_a || !best_b || *best_a == *best_b) continue;
      const bool two_hosts = are_two_hosts(a, b);
      const bool two_devices = a.view->rdma.device != b.view->rdma.device && a.document == b.document;
      if (two_hosts ? a.view->rdma.device != b.view->rdma.device : !two_devices) continue;
      Finding finding;
      // Between hosts a number is carried over by whoever starts the job; within one it takes somebody to set
      // it.
      finding.severity = two_hosts || is_pinned ? Severity::warning : Severity::info;
      finding.confidence = Confidence::medium;
      finding.subject = end_name(a, b) + ", " + end_name(b, a);
      finding.evidence = {a.gid(*place_of(a, *best_a)), b.gid(*place_of(b, *best_b))};
      finding.cause = fmt::format(
          "The routable RoCE v2 GID is index {} on {} and index {} on {}: one number for both takes a wrong "
          "one on "
          "one of them.",
          *best_a, end_name(a, b), *best_b, end_name(b, a));
      finding.fix = advise(kChooseByType + std::string("; in perftest give each side its own -x."));
      return finding;
    }
  }
  return std::nullopt;
}

// An index on one host that is of another kind on the other: RoCE v1 against v2, link-local against IPv4.
std::vector<Finding> different_kinds(const std::vector<PinnedIndex>& pinned,
                                     const std::vector<ShownPort>& tables) {
  std::vector<Finding> findings;
  if (pinned.empty()) return findings;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (std::size_t j = i + 1; j < tables.size(); ++j) {
      const ShownPort &a = tables[i], &b = tables[j];
      if (!are_two_hosts(a, b)) continue;
      for (const PinnedIndex& index : pinned) {
        if (!index.host.empty() || !is_about(index, a) || !is_about(index, b)) continue;
        const auto at_a = place_of(a, index.index), at_b = place_of(b, index.index);
        if (!at_a || !at_b || use_of(a.view->rdma.gids[*at_a]) == use_of(b.view->rdma.gids[*at_b])) continue;
        if (findings.size() >= kMostShownFindings) return findings;
        Finding finding;
        finding.subject = a.subject() + ", " + b.subject();
        finding.evidence = {index.evidence, a.gid(*at_a), b.gid(*at_b)};
        finding.cause =
            fmt::format("GID index {} is of another kind on {} than on {}: the two ends do not match.",
                        index.index, a.subject(), b.subject());
        finding.fix = advise(kChooseByType + std::string("; each side may need another index."));
        findings.push_back(std::move(finding));
      }
    }
  }
  return findings;
}

std::vector<Finding> empty_variables(const DossierFacts& facts) {
  std::vector<Finding> findings;
  for (const ShownSetting& set : shown_settings(facts, "NCCL_IB_GID_INDEX")) {
    if (!set.setting->value.empty()) continue;
    Finding finding;
    finding.subject = "NCCL_IB_GID_INDEX";
    finding.evidence = {set.shown()};
    finding.cause =
        "NCCL_IB_GID_INDEX is set to an empty string, which NCCL reads as index 0, as a rule link-local.";
    finding.fix = advise("Unset the variable; empty is not unset.", {"unset NCCL_IB_GID_INDEX"});
    findings.push_back(std::move(finding));
  }
  return findings;
}

Outcome judge_both_tables(const DossierFacts& facts) {
  std::vector<Finding> findings = empty_variables(facts);
  const std::vector<ShownPort> tables = roce_tables(facts);
  const auto add = [&](std::vector<Finding> more) {
    std::move(more.begin(), more.end(), std::back_inserter(findings));
  };
  add(drifts(facts));
  const std::vector<PinnedIndex> pinned = pinned_gid_indices(facts);
  add(empty_slots(pinned, tables));
  add(different_kinds(pinned, tables));
  if (auto finding = different_meaning(tables, !pinned.empty())) findings.push_back(std::move(*finding));
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (tables.empty()) return Outcome::not_checked("no GID table of a RoCE port is among the inputs");
  const bool several = std::any_of(tables.begin(), tables.end(), [&](const ShownPort& table) {
    return table.document != tables[0].document || table.view->rdma.device != tables[0].view->rdma.device;
  });
  if (!several && pinned_gid_indices(facts).empty())
    return Outcome::not_checked("one GID table only: the other end's is missing, and no index is set");
  std::vector<Evidence> seen;
  for (const ShownPort& table : tables) {
    if (const auto best = evidence::best_gid_index(table.view->rdma.gids))
      seen.push_back(table.gid(*place_of(table, *best)));
  }
  if (seen.empty()) return Outcome::not_checked("no table shows a routable RoCE v2 GID");
  return Outcome::passed(std::move(seen));
}

}  // namespace

std::span<const Rule> shown_gid_rules() {
  static constexpr Rule kRules[] = {
      {.id = "GID-1",
       .title = "The GID index that is asked for is RoCE v2 and routable",
       .condition =
           "Where an index is set by number, the table has a RoCE v2, IPv4-mapped or global IPv6 GID there.",
       .why = "fe80 has no route and RoCE v1 no IP header; a queue pair with such a GID times out or loses "
              "its class.",
       .needs = "A GID table (show_gids, ibv_devinfo -v), and the index from environment, command or log.",
       .decided = "Critical for a link-local GID at the index, warning for RoCE v1. Without an index info if "
                  "types are "
                  "not published and index 0 is link-local. Which addresses are private is never assumed.",
       .fix = "No index, or that of the routable GID.",
       .source = "NVIDIA/nccl#769, #1131; pytorch/gloo#147",
       .gates = {},
       .judge = judge_shown_gids},
      {.id = "GID-2",
       .title = "One GID index means the same everywhere",
       .condition = "GID tables of two moments, hosts or devices agree in content, and an index that is set "
                    "is not empty.",
       .why = "Tables are filled first-free and sparse inside namespaces: a number means nothing elsewhere.",
       .needs = "GID tables of both ends or moments; the index that is set.",
       .decided =
           "Warning if entries moved between two moments, if the index that is set is empty or of another "
           "kind on "
           "the other host, or if the routable GID has another index on the other host; info if it differs "
           "between devices and no index is set.",
       .fix = "Choose by type, version and subnet.",
       .source = "NVIDIA/nccl#2157, #2183; linux-rdma/perftest#44",
       .gates = {},
       .judge = judge_both_tables},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
