#include "agent/tune/host_plant/host_control.h"

#include "dataplane/base/json_reader.h"

namespace rocetune::tune {
namespace {

// A host that answers at all does so within this; a change may have to wait for a link.
constexpr Duration kLongestQuestion = seconds(60);
constexpr Duration kLongestChange = seconds(300);
// Before this a regression shows in the counters of an idle moment; the plant watches for itself while load
// runs.
constexpr const char* kSoak = "1s";

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const auto at = text.rfind('\n');
  return at == std::string::npos ? text : text.substr(at + 1);
}

std::string member_text(const Json& json, std::string_view name) {
  const Json* member = json_member(json, name);
  return member != nullptr && member->is_string() ? std::string(member->as_string()) : std::string();
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

std::vector<std::string> HostControl::words(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{address_.rocetune};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), address_.options.begin(), address_.options.end());
  if (address_.prefix.empty()) return command;
  // ssh hands one string to a shell there.
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + shell_word(word);
  std::vector<std::string> out = address_.prefix;
  out.push_back(std::move(line));
  return out;
}

Expected<host::Host> HostControl::inspect() const {
  const std::string where = address_.name.empty() ? "this host" : address_.name;
  auto run = run_program(words({"inspect", "--json"}), {}, kLongestQuestion, {});
  if (!run) return tl::unexpected(run.error().within(where));
  if (run->timed_out) return fail(ErrorKind::io, "{}: no answer within {}", where, to_text(kLongestQuestion));
  if (run->status != 0) {
    return fail(ErrorKind::io, "{}: rocetune inspect ended with {}: {}", where, run->status,
                last_line(run->err));
  }
  return host::host_from_json(run->out, where);
}

Expected<Applied> HostControl::change(const std::vector<std::string>& arguments,
                                      const std::string& input) const {
  const std::string where = address_.name.empty() ? "this host" : address_.name;
  auto run = run_program(words(arguments), input, kLongestChange, {});
  if (!run) return tl::unexpected(run.error().within(where));
  if (run->timed_out)
    return fail(ErrorKind::io, "{}: {} did not end within {}", where, arguments.front(),
                to_text(kLongestChange));
  const auto json = parse_json(run->out, where);
  if (!json || member_text(*json, "outcome").empty()) {
    return fail(ErrorKind::io, "{}: {} ended with {}: {}", where, arguments.front(), run->status,
                last_line(run->err));
  }
  Applied out;
  out.outcome = member_text(*json, "outcome");
  out.reason = member_text(*json, "reason");
  if (const Json* id = json_member(*json, "transaction"); id != nullptr && id->is_number()) {
    out.transaction = id->to_number<std::int64_t>();
  }
  if (const Json* details = json_member(*json, "details"); details != nullptr && details->is_array()) {
    for (const Json& line : details->as_array()) {
      if (line.is_string()) out.reason += (out.reason.empty() ? "" : "; ") + std::string(line.as_string());
    }
  }
  return out;
}

Expected<Applied> HostControl::apply(const Plan& plan, Duration dead_man,
                                     const std::vector<std::string>& allow) const {
  std::vector<std::string> arguments{"apply",  "/dev/stdin", "--json",           "--yes",
                                     "--soak", kSoak,        "--confirm-within", to_text(dead_man)};
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

Expected<Process> HostControl::watch(const std::vector<std::string>& ports, Duration interval) const {
  std::vector<std::string> arguments{"watch", "--json", "--interval", to_text(interval)};
  for (const std::string& port : ports) arguments.insert(arguments.end(), {"--port", port});
  return Process::start(words(arguments));
}

}  // namespace rocetune::tune
