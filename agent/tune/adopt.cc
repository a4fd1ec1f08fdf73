// A state that was found as wanted becomes the confirmed one: nothing is written to the host.
#include <algorithm>

#include "agent/tune/derived_plans.h"
#include "agent/tune/plan_json.h"
#include "agent/tune/transaction.h"
#include "agent/tune/verification.h"

namespace rocetune::tune {
namespace {

std::vector<Wanted> wanted_of(const std::vector<Kept>& kept) {
  std::vector<Wanted> out;
  for (const Kept& keep : kept) out.push_back({keep.knob, keep.value});
  return out;
}

bool holds(const ConfirmedState& state, const host::Host& host, const Kept& kept) {
  const host::Port* port = host.find_port(kept.knob.port);
  const std::string pci = port == nullptr ? "" : port->pci_address.value_or("");
  return std::any_of(state.ports.begin(), state.ports.end(), [&](const ConfirmedPort& confirmed) {
    const bool is_it = pci.empty() ? confirmed.port == kept.knob.port : confirmed.pci_address == pci;
    if (!is_it) return false;
    const auto found = std::find_if(confirmed.values.begin(), confirmed.values.end(), [&](const auto& value) {
      return value.first.kind == kept.knob.kind && value.first.parameter == kept.knob.parameter;
    });
    return found != confirmed.values.end() && found->second == kept.value;
  });
}

// At boot nobody is logged in and no job runs yet; everything else that guards a write guards it then too.
std::vector<std::string> objections_at_boot(const Plan& plan, const host::Host& host, const Limits& limits,
                                            const std::set<std::string>& consents) {
  const Awakening boot = awakening(host, plan, limits.nics);
  const Observed<counters::Interval> unseen = not_read();
  std::vector<std::string> out;
  for (const Refusal& refusal : uncovered(refusals({boot.host, boot.plan, unseen, limits}), consents)) {
    if (refusal.consent == "rdma-traffic" || refusal.consent == "bounce-ssh") continue;
    out.push_back("at boot, " + to_text(refusal));
  }
  return out;
}

}  // namespace

Expected<Result> Transactions::adopt(const Plan& plan, const ApplyRequest& request) {
  ROCETUNE_ASSERT(plan.is_empty());
  const auto book = ledger();
  if (!book) return tl::unexpected(book.error());
  if (book->open() != nullptr) {
    return fail(ErrorKind::conflict, "transaction {} is {}", book->open()->id,
                enum_name(book->open()->phase));
  }
  const auto host = host_.observe();
  if (!host) return tl::unexpected(host.error());
  const ConfirmedState state = confirmed_state(*book);
  if (std::all_of(plan.kept.begin(), plan.kept.end(),
                  [&](const Kept& kept) { return holds(state, *host, kept); })) {
    return Result{Verdict::nothing_to_do, 0, "the plan changes nothing", {}, 0, {}};
  }
  const std::int64_t id = book->next_id();
  Begin begin{plan,           baseline_of(*host, plan.bound_ports(*host)),
              request.caller, std::vector<std::string>(request.consents.begin(), request.consents.end()),
              std::nullopt,   0};
  std::vector<std::string> objections = staleness(plan, *host);
  for (const Difference& difference : differences(*host, wanted_of(plan.kept))) {
    objections.push_back(to_text(difference));
  }
  if (objections.empty()) objections = objections_at_boot(plan, *host, limits_, request.consents);
  if (book->unrepaired() != nullptr && !request.consents.contains("unresolved-rollback")) {
    objections.push_back(
        fmt::format("transaction {} is neither rolled back nor confirmed: rocetune rollback {} "
                    "(--allow unresolved-rollback)",
                    book->unrepaired()->id, book->unrepaired()->id));
  }
  if (!objections.empty()) return refuse(id, std::move(begin), std::move(objections));
  Record first = record(RecordKind::begin, id);
  first.begin = std::move(begin);
  if (auto status = log(std::move(first)); !status) return tl::unexpected(status.error());
  Record end = record(RecordKind::end, id);
  end.outcome = Outcome::committed;
  end.reason = "kept as it was found";
  if (auto status = log(std::move(end)); !status) return tl::unexpected(status.error());
  return Result{Verdict::adopted, id, "kept as it was found", {}, 0, {}};
}

}  // namespace rocetune::tune
