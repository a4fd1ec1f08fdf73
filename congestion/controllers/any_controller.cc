#include "congestion/controllers/any_controller.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rocetune {
namespace {
using Kind = ControllerChoice::Kind;
constexpr std::array<std::pair<Kind, std::string_view>, 5> kKinds{{{Kind::off, "off"},
                                                                   {Kind::fixed, "fixed"},
                                                                   {Kind::dcqcn, "dcqcn"},
                                                                   {Kind::swift, "swift"},
                                                                   {Kind::timely, "timely"}}};
}  // namespace

AnyController ControllerChoice::make(BitRate line_rate) const {
  switch (kind) {
    case Kind::off:
      return Uncontrolled(line_rate);
    case Kind::fixed:
      return FixedRate(std::min(fixed_rate, line_rate));
    case Kind::dcqcn:
      return rocetune::dcqcn::ReactionPoint(dcqcn, line_rate);
    case Kind::swift:
      return Swift(swift, line_rate);
    case Kind::timely:
      return Timely(timely, line_rate);
  }
  ROCETUNE_ASSERT(false);
}

Parsed<ControllerChoice::Kind> parse_controller_kind(std::string_view word) {
  for (const auto& [kind, name] : kKinds) {
    if (name == word) return kind;
  }
  return tl::unexpected(UnitError{std::string(word), "off, fixed, dcqcn, swift or timely"});
}

std::string_view to_text(ControllerChoice::Kind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return name;
  }
  return "?";
}

}  // namespace rocetune
