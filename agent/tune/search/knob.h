// One thing of a plant that tuning may turn: what values it takes, which of them are safe, what turning it
// costs, and where its values come from.
//
// A knob's value is a double whatever its kind: a number in the knob's unit, or the index of a choice.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune::search {

enum class KnobKind {
  numeric,      // min..max in steps
  categorical,  // one of `choices`, without order
  toggle,       // "off" (0) or "on" (1)
};
enum class Scale { linear, logarithmic };  // on which scale neighbours are equally far apart

// What turning the knob costs, least first: the cost of a candidate is that of its dearest knob.
enum class ChangeCost {
  none,            // takes effect while traffic runs
  restarts_job,    // queue pairs or the job have to be made anew
  bounces_link,    // the link goes down for a moment
  reloads_driver,  // the driver, or the host, has to be restarted
};

struct Knob {
  std::string name;     // unique within the space, dotted: "switches.kmin", "eth0.pfc"
  std::string meaning;  // one sentence for people
  KnobKind kind = KnobKind::numeric;

  // numeric. min <= max; step > 0 is the resolution: values are min + n * step, at most max. Scale
  // logarithmic needs min > 0. `unit` as JSON keys end in it: "bytes", "us", "mbps", "percent", or empty.
  double min = 0;
  double max = 0;
  double step = 1;
  Scale scale = Scale::linear;
  std::string unit;
  // The part of min..max that a search may use without asking; none: all of it.
  std::optional<double> safe_min = std::nullopt;
  std::optional<double> safe_max = std::nullopt;

  // categorical. At least one; toggles leave it empty. `safe_choices`: indices a search may use; empty: all.
  std::vector<std::string> choices;
  std::vector<std::size_t> safe_choices;

  ChangeCost cost = ChangeCost::none;

  // What the plant has now, and where that was read ("scenario file, line 12", "host gpu3"). May be any
  // number, even one that min, max, step and the safe set exclude: what was found was not our doing.
  double start = 0;
  std::string start_origin;
  // What the vendor or the standard gives it, and who says so; none: nobody does.
  std::optional<double> standard = std::nullopt;
  std::string standard_origin;

  // The knob does something only while another (by its place in the space) has one of these values:
  // DCQCN's rates while DCQCN is on. None: always. A dead knob is never turned.
  struct Life {
    std::size_t knob = 0;
    std::vector<double> values;
  };
  std::optional<Life> lives_while = std::nullopt;

  // How many values it takes; numeric, at most 2^53.
  double count() const;
  bool is_numeric() const { return kind == KnobKind::numeric; }
  // Within the safe set, on the grid of steps, a choice there is. The start value always is.
  bool is_safe(double value) const;
  // The nearest value a search may use.
  double nearest_safe(double value) const;
  // 0 (least safe value) to 1 (largest), on the knob's scale; the start value may lie outside.
  double position(double value) const;
  // The safe value nearest to a position.
  double at_position(double position) const;

  // "200000 bytes", "on", "dscp"; for people and for JSON of choices.
  std::string text(double value) const;
  // The value of a text as `text` writes it, with or without the unit. Error: bad_input with what is allowed
  // and the nearest choice.
  Expected<double> value_of(std::string_view text) const;
};

}  // namespace rocetune::search

namespace rocetune {
ROCETUNE_ENUM(search::KnobKind, P{E::numeric, "numeric"}, P{E::categorical, "categorical"},
              P{E::toggle, "toggle"});
ROCETUNE_ENUM(search::Scale, P{E::linear, "linear"}, P{E::logarithmic, "logarithmic"});
ROCETUNE_ENUM(search::ChangeCost, P{E::none, "none"}, P{E::restarts_job, "restarts_job"},
              P{E::bounces_link, "bounces_link"}, P{E::reloads_driver, "reloads_driver"});
}  // namespace rocetune
