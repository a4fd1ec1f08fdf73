// One core's endpoint with everything it needs: memory, port queue, faults in front of it, loop.
#pragma once

#include <memory>

#include "dataplane/port/fault_injector.h"
#include "dataplane/transport/pattern/plan.h"
#include "dataplane/transport/pattern/result.h"
#include "dataplane/transport/pattern/traffic.h"
#include "dataplane/transport/soft/memory_block.h"
#include "dataplane/transport/soft/worker.h"

namespace rocetune::pattern {

// What every shard of a process is made with.
struct ShardOptions {
  wire::MacAddress mac;
  wire::IpAddress address;
  BitRate line_rate{gigabits_per_second(100)};
  ControllerChoice controller;
  port::FaultPlan faults;
  std::uint32_t shards = 1;
  soft::HandOff* hand_off = nullptr;  // of all shards; none if there is only one
};

class Shard {
 public:
  Shard(const ShardOptions& options, std::uint32_t index, std::uint32_t queue_pairs, std::uint32_t requests);
  virtual ~Shard() = default;

  // Registers memory of that size for every kind of access. Errors: io, conflict.
  Expected<> reserve_memory(Bytes size);
  // Makes queue pairs. Error: conflict.
  Expected<> create_pairs(std::uint32_t count, const Plan& plan);

  engine::Endpoint& endpoint() { return *endpoint_; }
  port::Neighbours& neighbours() { return neighbours_; }
  const Registered& registered() const { return registered_; }
  const std::vector<wire::Qpn>& pairs() const { return pairs_; }
  virtual soft::Driver& driver() = 0;
  // Everything counted so far.
  SideResult counts() const;

 protected:
  virtual port::PortCounters port_counters() const = 0;
  virtual port::FaultCounters fault_counters() const = 0;
  virtual const soft::WorkerCounters& worker_counters() const = 0;

  engine::HostMemory memory_;
  std::unique_ptr<engine::Endpoint> endpoint_;
  port::Neighbours neighbours_;
  soft::MemoryBlock block_;
  Registered registered_;
  std::vector<wire::Qpn> pairs_;
};

template <port::PacketPort Port>
class ShardOn final : public Shard {
 public:
  ShardOn(Port& queue, const TickClock& clock, const ShardOptions& options, std::uint32_t index,
          std::uint32_t queue_pairs, std::uint32_t requests)
      : Shard(options, index, queue_pairs, requests),
        queue_(queue),
        injector_(queue, seeded(options.faults, index)),
        worker_(injector_, *endpoint_, memory_, neighbours_, clock) {
    if (options.hand_off != nullptr) worker_.join(*options.hand_off, index);
  }
  soft::Driver& driver() override { return worker_; }

 private:
  // Shards do not suffer in step.
  static port::FaultPlan seeded(port::FaultPlan plan, std::uint32_t index) {
    plan.seed += index;
    return plan;
  }
  port::PortCounters port_counters() const override { return queue_.counters(); }
  port::FaultCounters fault_counters() const override { return injector_.faults(); }
  const soft::WorkerCounters& worker_counters() const override { return worker_.counters(); }

  Port& queue_;
  port::FaultInjector<Port> injector_;
  soft::Worker<port::FaultInjector<Port>> worker_;
};

// What was counted between two moments.
SideResult difference(const SideResult& before, const SideResult& after);
void add(SideResult& sum, const SideResult& more);

}  // namespace rocetune::pattern
