// The wordings of NCCL's messages about verbs, of all ages.
#pragma once

#include <optional>
#include <string_view>

#include "agent/evidence/signs.h"

namespace rocetune::evidence {

// "Got completion with error 12, opcode 0, len 0, vendor err 129", "... with status=12 ...",
// "... status=IBV_WC_RETRY_EXC_ERR(12) ... vendor_err=129". Nothing for other messages.
std::optional<FailedCompletion> nccl_completion_of(std::string_view message, Quote quote);
// "Call to ibv_modify_qp failed with error Connection timed out", "... with 61 No data available, on dev
// ...".
std::optional<FailedQpSetup> nccl_qp_setup_of(std::string_view message, Quote quote);
// What may stand on a line of its own behind the former: "dev rocep1s0f0:1, curr state INIT, ...".
bool add_qp_setup_details(std::string_view text, FailedQpSetup& failed);
// "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory" and the like.
std::optional<FailedRegistration> nccl_registration_of(std::string_view message, Quote quote);

}  // namespace rocetune::evidence
