// All controllers behind one value type: one variant visit per burst, nothing virtual. An engine that knows
// its controller at compile time uses that type itself.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "congestion/controllers/constant.h"
#include "congestion/controllers/swift.h"
#include "congestion/controllers/timely.h"
#include "congestion/dcqcn/reaction_point.h"

namespace rocetune {

using AnyController = std::variant<Uncontrolled, FixedRate, dcqcn::ReactionPoint, Swift, Timely>;

// What a person chooses, once per endpoint: it outlives every controller made from it.
struct ControllerChoice {
  enum class Kind { off, fixed, dcqcn, swift, timely };
  Kind kind = Kind::dcqcn;
  BitRate fixed_rate{gigabits_per_second(1)};  // kind fixed; above line rate: line rate
  dcqcn::ReactionPointParameters dcqcn;        // mlx5 defaults
  SwiftParameters swift;
  TimelyParameters timely;

  AnyController make(BitRate line_rate) const;
};

// "off", "fixed", "dcqcn", "swift", "timely"; an unknown word is an error with the allowed ones.
Parsed<ControllerChoice::Kind> parse_controller_kind(std::string_view word);
std::string_view to_text(ControllerChoice::Kind);

}  // namespace rocetune
