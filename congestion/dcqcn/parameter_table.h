// The parameters of DCQCN as rows of one table: what text, TOML, documentation and vendor tools call them, in
// which unit, what is allowed, and where the defaults come from.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "congestion/dcqcn/parameters.h"

namespace rocetune::dcqcn {

enum class ParameterUnit : std::uint8_t {
  flag,      // 0 or 1
  count,     // plain number
  fraction,  // number of 1/1024
  percent,
  microseconds,
  bytes,
  megabits_per_second,
  dscp,
  priority,
  parts_per_billion,
};
std::string_view name_of(ParameterUnit);

struct Parameter {
  std::string_view name;           // mlx5 debugfs cc_params file name; for CP the usual switch word
  std::string_view firmware_name;  // mlxconfig name; empty: none
  ParameterUnit unit;
  std::int64_t minimum;
  std::int64_t maximum;
  std::string_view meaning;
  std::string_view origin_mlx5;                    // of the mlx5 set's value
  std::string_view origin_paper;                   // of the paper set's value
  std::int64_t (*read)(const Parameters&);         // in `unit`
  void (*write)(Parameters&, std::int64_t value);  // value must be in range
};

// All rows: RP, then NP, then CP.
std::span<const Parameter> parameter_table();
const Parameter* find_parameter(std::string_view name);

// The value with its unit: "55us", "5Mbps", "1019/1024", "true".
std::string value_text(const Parameter&, const Parameters&);
// Reads such a text into `out`; a bare number where a unit is needed, a value out of range, or one that the
// unit cannot hold exactly is an error that names what is allowed, and changes nothing.
Parsed<std::int64_t> parse_value(const Parameter&, std::string_view text, Parameters& out);

// The sets by name: "mlx5", "paper", "hpcc".
struct NamedSet {
  std::string_view name;
  std::string_view origin;
  Parameters (*make)();
};
std::span<const NamedSet> named_sets();

}  // namespace rocetune::dcqcn
