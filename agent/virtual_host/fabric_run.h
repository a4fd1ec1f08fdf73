// A scenario on its way: run up to a moment of virtual time, looked at, run on. Looking changes nothing: the
// events, and their digest, are those of a run in one go.
#pragma once

#include <stop_token>
#include <string_view>

#include "dataplane/base/clock.h"
#include "dataplane/base/error.h"
#include "dataplane/fabric/network.h"
#include "dataplane/fabric/scenario.h"

namespace rocetune::virtual_host {

class FabricRun {
 public:
  // Time stands at zero, nothing has happened.
  explicit FabricRun(fabric::Scenario scenario);
  FabricRun(const FabricRun&) = delete;
  FabricRun& operator=(const FabricRun&) = delete;

  const fabric::Scenario& scenario() const { return scenario_; }
  const fabric::Network& network() const { return network_; }
  Instant now() const { return now_; }
  // All traffic is finished, or the scenario's limit is reached.
  bool is_over() const { return network_.is_finished() || now_ >= limit_; }

  // Runs on to `when`, past the scenario's limit too; the past is no error and changes nothing. When the
  // traffic is finished time goes by without events.
  void advance_to(Instant when);
  // Runs on until it is over, and stands there; or until it is to stop, and stands anywhere.
  void finish(const std::stop_token& stop = {});

  // Somebody has read counters now. Nothing is left to be read if it was over then.
  void note_reading() { is_all_read_ = is_over(); }
  bool is_all_read() const { return is_all_read_; }

 private:
  const fabric::Scenario scenario_;
  fabric::Network network_;
  const Instant limit_;
  Instant now_;
  bool is_all_read_ = false;
};

// Virtual time: waiting runs the fabric. Its wall clock began at 1970-01-01 UTC with the run.
class VirtualClock final : public Clock {
 public:
  // `run` must outlive it.
  explicit VirtualClock(FabricRun& run) : run_(run) {}
  Instant now() const override { return run_.now(); }
  std::int64_t unix_ns() const override { return run_.now().since_origin() / nanoseconds(1); }
  void sleep_until(Instant when) override { run_.advance_to(when); }

 private:
  FabricRun& run_;
};

// "h3" of a fabric that has it. Error: bad_input with what is allowed.
Expected<fabric::NodeId> host_named(std::string_view text, const fabric::Topology& topology);
// "h3".
std::string name_of(fabric::NodeId host);
// What holds for this host: its own parameters, or those of all.
const fabric::HostParameters& parameters_of(const fabric::Scenario& scenario, fabric::NodeId host);

// A host of the fabric has one port and one RDMA device, of these names.
inline constexpr const char* kPort = "eth0";
inline constexpr const char* kDevice = "fabric0";
// Its row of configs/nics and configs/counters.
inline constexpr const char* kNic = "fabric";

}  // namespace rocetune::virtual_host
