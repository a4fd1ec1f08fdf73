#include "agent/evidence/logs/formats.h"

#include <array>

#include "agent/evidence/logs/app_log.h"
#include "agent/evidence/logs/command_lines.h"
#include "agent/evidence/logs/environment.h"
#include "agent/evidence/logs/nccl_log.h"
#include "agent/evidence/logs/ucx_log.h"

namespace rocetune::evidence {

std::span<const Format> log_formats() {
  static const std::array kFormats{nccl_log_format(), ucx_log_format(), app_log_format(), command_format(),
                                   environment_format()};
  return kFormats;
}

}  // namespace rocetune::evidence
