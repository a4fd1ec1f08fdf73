// The running host behind the transaction: the kernel's clock, readers, writer and counters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/counters/schema.h"
#include "agent/host/kernel_knob_writer.h"
#include "agent/host/nic_row.h"
#include "agent/tune/managed_host.h"

namespace rocetune::tune {

// Boot id and clocks of the running kernel.
Moment current_moment();
void sleep_for(Duration span);

class LiveHost : public ManagedHost {
 public:
  // `nics` and `schema` outlive it. From here on SIGINT and SIGTERM ask to stop and SIGHUP is ignored: a
  // terminal that goes away must not stop what bounced its link.
  LiveHost(std::string root, const host::NicTable& nics, const counters::Schema& schema);

  Moment now() override { return current_moment(); }
  void sleep(Duration span) override { sleep_for(span); }
  bool stop_requested() override;
  Expected<host::Host> observe() override;
  Expected<host::Host> look(const std::vector<std::string>& ports) override;
  Expected<host::Host> look_at_links(const std::vector<std::string>& ports) override;
  Expected<counters::Interval> measure(Duration span) override;
  host::KnobWriter& writer() override { return writer_; }

 private:
  std::string root_;
  const host::NicTable& nics_;
  const counters::Schema& schema_;
  host::KernelKnobWriter writer_;
};

}  // namespace rocetune::tune
