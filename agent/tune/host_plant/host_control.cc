#include "agent/tune/host_plant/host_control.h"

#include "dataplane/base/json_reader.h"

namespace rocetune::tune {
namespace {

// A host that answers at all does so within this; a change may have to wait for a link.
constexpr Duration kLongestQuestion = seconds(60);
constexpr Duration kLongestChange = seconds(300);

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const auto at = text.rfind('\n');
  return at == std::string::npos ? text : text.substr(at + 1);
}

std::string member_text(const Json& json, std::string_view name) {
  const Json* member = json_member(json, name);
  return member != nullptr && member->is_string() ? std::string(member->as_string()) : std::string();
}

std::int64_t member_number(const Json& json, std::string_view name) {
  const Json* member = json_member(json, name);
  return member != nullptr && member->is_int64() ? member->get_int64() : 0;
}

}  // namespace

HostAddress over_ssh(const std::string& destination, const std::string& ssh, const std::string& rocetune) {
  HostAddress out;
  out.name = destination.substr(destination.find('@') + 1);
  out.rocetune = rocetune;
  std::size_t begin = 0;
  while (begin < ssh.size()) {
    const std::size_t end = std::min(ssh.find(' ', begin), ssh.size());
    if (end > begin) out.prefix.push_back(ssh.substr(begin, end - begin));
    begin = end + 1;
  }
  out.prefix.push_back(destination);
  return out;
}

std::vector<std::string> HostControl::words(std::vector<std::string> arguments, Kind kind) const {
  const auto add = [&](const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
  };
  if (kind != Kind::tells) add(address_.options);
  if (kind != Kind::looks) add(address_.journal_options);
  arguments.insert(arguments.begin(), address_.rocetune);
  if (address_.prefix.empty()) return arguments;
  // ssh hands one string to a shell there.
  std::string line;
  for (const std::string& word : arguments) line += (line.empty() ? "" : " ") + shell_word(word);
  std::vector<std::string> out = address_.prefix;
  out.push_back(std::move(line));
  return out;
}

std::string HostControl::command_line(const std::vector<std::string>& arguments) const {
  std::string out;
  for (const std::string& word : words(arguments, Kind::tells))
    out += (out.empty() ? "" : " ") + shell_word(word);
  return out;
}

// A question: its answer is worth nothing unless it ends well.
Expected<RunResult> HostControl::ask(const std::vector<std::string>& arguments, Kind kind) const {
  auto run = run_program(words(arguments, kind), {}, kLongestQuestion, {});
  if (!run) return tl::unexpected(run.error().within(name()));
  if (run->timed_out)
    return fail(ErrorKind::io, "{}: no answer within {}", name(), to_text(kLongestQuestion));
  if (run->status != 0) {
    return fail(ErrorKind::io, "{}: rocetune {} ended with {}: {}", name(), arguments.front(), run->status,
                last_line(run->err));
  }
  return run;
}

Expected<host::Host> HostControl::inspect() const {
  const auto run = ask({"inspect", "--json"}, Kind::looks);
  if (!run) return tl::unexpected(run.error());
  return host::host_from_json(run->out, name());
}

Expected<std::vector<PastTransaction>> HostControl::history() const {
  const auto run = ask({"history", "--json"}, Kind::tells);
  if (!run) return tl::unexpected(run.error());
  const auto json = parse_json(run->out, name());
  const Json* all = json ? json_member(*json, "transactions") : nullptr;
  if (all == nullptr || !all->is_array()) {
    return fail(ErrorKind::bad_input, "{}: its history is none that this program reads", name());
  }
  std::vector<PastTransaction> out;
  for (const Json& one : all->as_array()) {
    PastTransaction past;
    past.id = member_number(one, "id");
    past.phase = member_text(one, "phase");
    past.outcome = member_text(one, "outcome");
    if (const Json* plan = json_member(one, "plan")) {
      past.profile = member_text(*plan, "profile");
      past.plan_made_at_unix_ns = member_number(*plan, "made_at_unix_ns");
    }
    if (past.id == 0 || past.phase.empty()) {
      return fail(ErrorKind::bad_input, "{}: its history is none that this program reads", name());
    }
    out.push_back(std::move(past));
  }
  return out;
}

Expected<Applied> HostControl::change(const std::vector<std::string>& arguments,
                                      const std::string& input) const {
  auto run = run_program(words(arguments, Kind::changes), input, kLongestChange, {});
  if (!run) return tl::unexpected(run.error().within(name()));
  if (run->timed_out) {
    return fail(ErrorKind::io, "{}: {} did not end within {}", name(), arguments.front(),
                to_text(kLongestChange));
  }
  const auto json = parse_json(run->out, name());
  if (!json || member_text(*json, "outcome").empty()) {
    return fail(ErrorKind::io, "{}: {} ended with {}: {}", name(), arguments.front(), run->status,
                last_line(run->err));
  }
  Applied out;
  out.outcome = member_text(*json, "outcome");
  out.reason = member_text(*json, "reason");
  out.transaction = member_number(*json, "transaction");
  if (const Json* details = json_member(*json, "details"); details != nullptr && details->is_array()) {
    for (const Json& line : details->as_array()) {
      if (line.is_string()) out.reason += (out.reason.empty() ? "" : "; ") + std::string(line.as_string());
    }
  }
  return out;
}

Expected<Applied> HostControl::apply(const Plan& plan, const Terms& terms,
                                     const std::vector<std::string>& allow) const {
  std::vector<std::string> arguments{
      "apply",  "/dev/stdin",        "--json",           "--yes",
      "--soak", to_text(terms.soak), "--confirm-within", to_text(terms.dead_man)};
  for (const std::string& name : allow) arguments.insert(arguments.end(), {"--allow", name});
  return change(arguments, to_json_text(plan));
}

Expected<Applied> HostControl::confirm(std::int64_t transaction) const {
  return change({"confirm", std::to_string(transaction), "--json"}, {});
}

Expected<Applied> HostControl::rollback(std::int64_t transaction,
                                        const std::vector<std::string>& allow) const {
  std::vector<std::string> arguments{"rollback", std::to_string(transaction), "--json", "--yes"};
  for (const std::string& name : allow) arguments.insert(arguments.end(), {"--allow", name});
  return change(arguments, {});
}

Expected<Applied> HostControl::recover() const { return change({"recover", "--json"}, {}); }

Expected<Process> HostControl::watch(const std::vector<std::string>& ports, Duration interval) const {
  std::vector<std::string> arguments{"watch", "--json", "--interval", to_text(interval)};
  for (const std::string& port : ports) arguments.insert(arguments.end(), {"--port", port});
  return Process::start(words(arguments, Kind::looks));
}

}  // namespace rocetune::tune
