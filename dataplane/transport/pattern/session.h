// A benchmark between processes, from the first word over TCP to the last result.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "dataplane/transport/pattern/crew.h"
#include "dataplane/transport/pattern/result.h"
#include "dataplane/transport/pattern/roles.h"
#include "dataplane/transport/pattern/shard.h"

namespace rocetune::pattern {

// What a process brings to a benchmark: its port's shards and the cores they run on.
struct Party {
  ShardOptions options;
  const TickClock* clock = nullptr;
  // Makes shard `index` for that many queue pairs and requests.
  std::function<std::unique_ptr<Shard>(std::uint32_t index, std::uint32_t queue_pairs,
                                       std::uint32_t requests)>
      make_shard;
  CoreRunner run;
  StopQuestion stop = [] { return false; };
  Dscp dscp{26};
  std::uint32_t largest_mtu = kLargestMtu;  // path MTU whose frames the port carries, bytes
  std::uint8_t ack_timeout = 14;            // 4.096 us · 2^n, 1..31
  std::optional<wire::IpAddress> gateway;   // asked for the way to peers instead of them
};

// Connects to `place`, runs `plan`, tells each row as soon as it is known. Errors: bad_input (plan, place),
// io (the server, the network, a request that failed).
Expected<Result> run_client(const Party& party, const Plan& plan, const std::string& place,
                            const std::function<void(const Row&)>& on_row);

// Waits at `place` for as many clients as the first one's plan says and serves them. `started` is called once
// it listens.
Expected<Result> run_server(const Party& party, Pattern pattern, const std::string& place,
                            const std::function<void()>& started);

}  // namespace rocetune::pattern
