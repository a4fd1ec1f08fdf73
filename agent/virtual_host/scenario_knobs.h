// Settings of a host of the virtual fabric, written: the scenario says them, and the run that is made from it
// afterwards has them. What plans say for a real host is tried here first.
#pragma once

#include "agent/host/knob_writer.h"
#include "agent/virtual_host/fabric_run.h"

namespace rocetune::virtual_host {

class ScenarioKnobs final : public host::KnobWriter {
 public:
  // `scenario` must outlive it and have the host.
  ScenarioKnobs(fabric::Scenario& scenario, fabric::NodeId host) : scenario_(scenario), host_(host) {}

  // All of the batch or nothing. What stands where:
  //   mtu              hosts.mtu, the path MTU that fits: one of the values that host_facts shows
  //   app_table        hosts.priority_of_dscp: DSCPs that are not named go to priority 0
  //   pfc              hosts.lossless
  //   ets              hosts.ets, hosts.traffic_classes
  //   pfc_prevention   hosts.storm_prevention; 65535 ("auto") is 100 ms, 0 is never
  //   cm_default_tos   hosts.dscp: every connection is made with it
  //   cc_param         hosts.rp_..., hosts.np_...
  // dcbx_mode, global_pause: only what they are already. Errors: unsupported for what the fabric does not
  // have (buffers, shares of what is received, a cable's length, selectors other than DSCP, entries that it
  // cannot hold), bad_input for a value out of range.
  Expected<> write(const host::Port& port, const std::vector<host::KnobWrite>& batch) override;
  // Nothing is hidden here.
  Expected<> reveal(const host::Port&, const host::Knob&) override { return {}; }
  Expected<> conceal(const host::Port&, const host::Knob&) override { return {}; }

 private:
  fabric::Scenario& scenario_;
  fabric::NodeId host_;
};

}  // namespace rocetune::virtual_host
