#include "dataplane/fabric/scenario_parts.h"

namespace rocetune::fabric {
namespace {

enum class Pattern : std::uint8_t { pair, incast, permutation, all_to_all };

}  // namespace
}  // namespace rocetune::fabric

namespace rocetune {
ROCETUNE_ENUM(fabric::Pattern, P{E::pair, "pair"}, P{E::incast, "incast"}, P{E::permutation, "permutation"},
              P{E::all_to_all, "all_to_all"});
}  // namespace rocetune

namespace rocetune::fabric {

void read_flows(TableReader& t, Scenario& out) {
  Pattern pattern = Pattern::pair;
  t.required("pattern", pattern);
  Flow flow;
  Bytes bytes{0};
  Bytes message{flow.message};
  Duration start;
  t.required("bytes", bytes, between(Bytes(1), Bytes(UINT32_MAX)));
  t.optional("message", message, between(Bytes(1), Bytes(engine::kLongestMessage)));
  t.optional("window", flow.window, between(1U, 65536U));
  t.optional("start", start, between(Duration(0), out.limit));
  flow.bytes = static_cast<std::uint64_t>(bytes.count());
  flow.message = static_cast<std::uint32_t>(message.count());
  flow.start = Instant(start);
  const auto add = [&](const Flow& one) { out.flows.push_back(one); };
  const std::uint32_t hosts = out.topology.hosts;
  if (hosts == 0) return;  // its own issue
  const auto host_number = between(0U, hosts - 1);
  switch (pattern) {
    case Pattern::pair:
      if (!t.required("from", flow.from, host_number) || !t.required("to", flow.to, host_number)) return;
      if (flow.from == flow.to) return t.reject("to", "another host than from");
      return add(flow);
    case Pattern::incast: {
      std::uint32_t senders = 0;
      flow.to = hosts - 1;
      t.optional("to", flow.to, host_number);
      std::uint32_t each = 1;
      t.optional("flows_per_sender", each, between(1U, 1024U));
      if (!t.required("senders", senders, between(1U, hosts - 1))) return;
      std::uint32_t left = senders;
      for (NodeId from = 0; left > 0 && from < hosts; ++from) {
        if (from == flow.to) continue;
        flow.from = from;
        for (std::uint32_t i = 0; i < each; ++i) add(flow);
        --left;
      }
      return;
    }
    case Pattern::permutation: {
      std::uint32_t shift = 0;
      if (!t.required("shift", shift, between(1U, hosts - 1))) return;
      for (flow.from = 0; flow.from < hosts; ++flow.from) {
        flow.to = (flow.from + shift) % hosts;
        add(flow);
      }
      return;
    }
    case Pattern::all_to_all:
      if (hosts > 1024) return t.reject("pattern", "at most 1024 hosts for all_to_all");
      for (flow.from = 0; flow.from < hosts; ++flow.from) {
        for (std::uint32_t i = 1; i < hosts; ++i) {
          flow.to = (flow.from + i) % hosts;
          add(flow);
        }
      }
      return;
  }
}

}  // namespace rocetune::fabric
