#include "agent/tune/host_plant/host_transactions.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

namespace rocetune::tune {
namespace {

constexpr int kTries = 3;
constexpr Duration kPause = seconds(1);
// An apply whose connection was lost runs on over there; it holds the host's lock meanwhile.
constexpr Duration kPatience = seconds(120);

// One thread for each host: a host that hangs keeps nobody else waiting.
template <class Job>
void on_all(std::size_t hosts, const Job& job) {
  if (hosts == 1) return job(0);
  std::vector<std::jthread> threads;
  for (std::size_t h = 0; h < hosts; ++h) threads.emplace_back([&job, h] { job(h); });
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string out;
  for (const std::string& sentence : sentences) {
    if (!sentence.empty()) out += (out.empty() ? "" : "; ") + sentence;
  }
  return out;
}

std::string answer_of(const Expected<Applied>& answer) {
  return answer ? fmt::format("{}: {}", answer->outcome, answer->reason) : answer.error().text();
}

}  // namespace

HostTransactions::HostTransactions(std::vector<HostControl> hosts, std::vector<std::string> allow)
    : hosts_(std::move(hosts)),
      allow_(std::move(allow)),
      open_(hosts_.size()),
      sent_(hosts_.size()),
      last_seen_(hosts_.size()) {}

std::optional<Instant> HostTransactions::since() const {
  std::optional<Instant> out;
  for (const Open& open : open_) {
    if (open.what != Open::What::nothing) out = out ? std::min(*out, open.since) : open.since;
  }
  return out;
}

std::string HostTransactions::apply_to(std::size_t host, const Plan& plan, const HostControl::Terms& terms) {
  if (plan.is_empty()) return {};
  Open& open = open_[host];
  open = {Open::What::unknown, 0, plan.made_at_unix_ns, SystemClock().now()};
  sent_[host].insert(plan.made_at_unix_ns);
  const auto applied = hosts_[host].apply(plan, terms, allow_);
  if (!applied) return applied.error().text();
  const auto is = [&](std::string_view outcome) { return applied->outcome == outcome; };
  if (is("waiting")) {
    open.what = Open::What::waiting;
    open.id = applied->transaction;
    return {};
  }
  if (is("rollback_failed")) {
    open.what = Open::What::stuck;
    open.id = applied->transaction;
  } else if (is("nothing_to_do") || is("refused") || is("rolled_back")) {
    open = {};
    if (is("nothing_to_do")) return {};
  }
  return fmt::format("{}: {}", hosts_[host].name(), answer_of(applied));
}

Expected<std::optional<std::string>> HostTransactions::apply(const std::vector<Plan>& plans,
                                                             const HostControl::Terms& terms) {
  ROCETUNE_ASSERT(plans.size() == hosts_.size());
  if (auto back = take_back(); !back) return tl::unexpected(back.error());
  dead_man_ = terms.dead_man;
  std::vector<std::string> troubles(hosts_.size());
  on_all(hosts_.size(), [&](std::size_t h) { troubles[h] = apply_to(h, plans[h], terms); });
  const std::string trouble = joined(troubles);
  if (trouble.empty()) return std::nullopt;
  if (auto back = take_back(); !back) return tl::unexpected(back.error().within(trouble));
  return trouble;
}

Expected<std::string> HostTransactions::check_alone_on(std::size_t host) {
  const HostControl& control = hosts_[host];
  const auto history = control.history();
  if (!history) return tl::unexpected(history.error());
  Open& open = open_[host];
  std::string ended;
  for (const PastTransaction& past : *history) {
    const bool is_ours = sent_[host].contains(past.plan_made_at_unix_ns);
    if (!is_ours && last_seen_[host] && past.id > *last_seen_[host]) {
      return fail(ErrorKind::conflict, "{}: somebody else changes it: transaction {} ({}) is not of this run",
                  control.name(), past.id, past.profile);
    }
    if (is_ours && past.is_open() && past.id != open.id) {
      // Given up long ago, and begun over there since.
      open = {Open::What::waiting, past.id, past.plan_made_at_unix_ns, SystemClock().now()};
      return fail(ErrorKind::conflict, "{}: transaction {} of this run came late", control.name(), past.id);
    }
    if (open.what != Open::What::waiting || past.id != open.id || past.is_open()) continue;
    if (past.outcome != "rolled_back") {
      return fail(ErrorKind::conflict, "{}: somebody else ended transaction {}: {}", control.name(), past.id,
                  past.outcome);
    }
    ended = fmt::format("{}: transaction {} was taken back meanwhile", control.name(), past.id);
    open = {};
  }
  last_seen_[host] = history->empty() ? 0 : history->back().id;
  return ended;
}

Expected<std::string> HostTransactions::check_alone() {
  std::vector<Expected<std::string>> answers(hosts_.size());
  on_all(hosts_.size(), [&](std::size_t h) { answers[h] = check_alone_on(h); });
  std::vector<std::string> ended;
  for (auto& answer : answers) {
    if (!answer) return answer;
    ended.push_back(std::move(*answer));
  }
  return joined(ended);
}

// What became of a change whose end nobody told.
Expected<> HostTransactions::find_out(std::size_t host) {
  SystemClock clock;
  Open& open = open_[host];
  std::string why;
  for (const Instant deadline = clock.now() + kPatience;; clock.sleep_for(kPause)) {
    // Gets the host's lock: nobody is at work there any more.
    const auto recovered = hosts_[host].recover();
    const auto history = recovered ? hosts_[host].history() : tl::unexpected(recovered.error());
    if (history) {
      const auto ours =
          std::ranges::find(*history, open.plan_made_at_unix_ns, &PastTransaction::plan_made_at_unix_ns);
      if (ours == history->end() || ours->outcome == "rolled_back" || ours->outcome == "refused") {
        open = {};
        return {};
      }
      open.id = ours->id;
      open.what = ours->outcome == "rollback_failed" ? Open::What::stuck : Open::What::waiting;
      return {};
    }
    why = history.error().text();
    if (clock.now() >= deadline) break;
  }
  return fail(ErrorKind::conflict, "{}: whether it is changed is not known: {}", hosts_[host].name(), why);
}

Expected<> HostTransactions::take_back_from(std::size_t host) {
  Open& open = open_[host];
  const HostControl& control = hosts_[host];
  std::string why;
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) SystemClock().sleep_for(kPause);
    if (open.what == Open::What::unknown) {
      if (auto known = find_out(host); !known) return known;
    }
    if (open.what == Open::What::nothing) return {};
    const auto back = control.rollback(open.id, allow_);
    // "committed": it had been confirmed, and the change that undoes it is.
    if (back && (back->outcome == "rolled_back" || back->outcome == "nothing_to_do" ||
                 back->outcome == "committed")) {
      open = {};
      return {};
    }
    why = answer_of(back);
    if (back && back->outcome == "rollback_failed") open.what = Open::What::stuck;
    // The dead-man may have been first, or the answer was lost.
    const auto history = control.history();
    if (!history) continue;
    const auto ours = std::ranges::find(*history, open.id, &PastTransaction::id);
    if (ours == history->end()) continue;
    if (ours->outcome == "rolled_back") {
      open = {};
      return {};
    }
  }
  const std::string by_hand = control.command_line({"rollback", std::to_string(open.id)});
  return fail(ErrorKind::conflict, "{}: transaction {} was not taken back: {}; {}", control.name(), open.id,
              why,
              open.what == Open::What::waiting
                  ? fmt::format("its dead-man does so within {}, or: {}", to_text(dead_man_), by_hand)
                  : "by hand: " + by_hand);
}

Expected<> HostTransactions::take_back() {
  std::vector<std::string> troubles(hosts_.size());
  on_all(hosts_.size(), [&](std::size_t h) {
    if (auto back = take_back_from(h); !back) troubles[h] = back.error().text();
  });
  const std::string trouble = joined(troubles);
  if (trouble.empty()) return {};
  return fail(ErrorKind::conflict, "{}", trouble);
}

// An answer that was lost does not undo what was confirmed.
bool HostTransactions::is_committed(std::size_t host) const {
  const auto history = hosts_[host].history();
  if (!history) return false;
  const auto ours = std::ranges::find(*history, open_[host].id, &PastTransaction::id);
  return ours != history->end() && ours->outcome == "committed";
}

Expected<std::vector<std::int64_t>> HostTransactions::confirm() {
  std::vector<std::int64_t> out;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    if (open_[h].what == Open::What::nothing) {
      out.push_back(0);
      continue;
    }
    out.push_back(open_[h].id);
    const auto confirmed = hosts_[h].confirm(open_[h].id);
    if ((confirmed && confirmed->outcome == "committed") || is_committed(h)) continue;
    const std::string why = fmt::format("{}: not confirmed: {}", hosts_[h].name(), answer_of(confirmed));
    // Those before it, too: rollback takes back what was confirmed as well.
    if (auto back = take_back(); !back) return tl::unexpected(back.error().within(why));
    return fail(ErrorKind::conflict, "{}", why);
  }
  std::ranges::fill(open_, Open());
  return out;
}

}  // namespace rocetune::tune
