// Writes knobs. Only agent/tune/transaction calls this: everything else plans.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/knob.h"
#include "agent/host/model.h"
#include "dataplane/base/error.h"

namespace rocetune::host {

struct KnobWrite {
  Knob knob;
  KnobValue current;  // as just read: deletions are spelled from it
  KnobValue target;
};

class KnobWriter {
 public:
  virtual ~KnobWriter() = default;

  // One batch on one port, in order; all DCB tables of it in one message, so that the link bounces once at
  // most. Not atomic: after an error any part may be in force. Success says only that the kernel accepted:
  // read back. Errors carry errno where the system gave one.
  virtual Expected<> write(const Port& port, const std::vector<KnobWrite>& batch) = 0;

  // Makes visible what is hidden until asked for, and hides it again: the configfs directory of
  // cm_default_tos. Both succeed when there is nothing to do. Other kinds: nothing to do.
  virtual Expected<> reveal(const Port& port, const Knob& knob) = 0;
  virtual Expected<> conceal(const Port& port, const Knob& knob) = 0;
};

}  // namespace rocetune::host
