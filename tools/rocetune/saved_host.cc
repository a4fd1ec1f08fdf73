#include "tools/rocetune/saved_host.h"

#include "agent/counters/snapshot.h"
#include "dataplane/base/file.h"

namespace rocetune::cli {

Expected<host::Host> read_saved_host(const std::string& path) {
  constexpr Bytes kLimit{256 << 20};
  const auto text = read_file(path, kLimit);
  if (!text) return tl::unexpected(text.error().within("--from"));
  if (counters::is_snapshot(*text)) return counters::host_of_snapshot(*text, path);
  auto host = host::host_from_json(*text, path);
  if (host && host->name.empty() && host->kernel.empty() && host->ports.empty()) {
    return fail(ErrorKind::bad_input,
                "{}: found JSON without a host, allowed: what rocetune inspect --json or snapshot wrote",
                path);
  }
  return host;
}

}  // namespace rocetune::cli
