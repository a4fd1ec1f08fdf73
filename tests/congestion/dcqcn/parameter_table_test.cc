#include "congestion/dcqcn/parameter_table.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/places.h"

namespace rocetune::dcqcn {
namespace {

// The firmware's defaults as a mlxconfig dump shows them.
TEST(ParameterTable, Mlx5SetIsTheFirmwares) {
  const std::map<std::string_view, std::int64_t> firmware{{"CLAMP_TGT_RATE", 0},
                                                          {"CLAMP_TGT_RATE_AFTER_TIME_INC", 1},
                                                          {"RPG_TIME_RESET", 300},
                                                          {"RPG_BYTE_RESET", 32767},
                                                          {"RPG_THRESHOLD", 1},
                                                          {"RPG_AI_RATE", 5},
                                                          {"RPG_HAI_RATE", 50},
                                                          {"RPG_MAX_RATE", 0},
                                                          {"RPG_MIN_DEC_FAC", 50},
                                                          {"RPG_MIN_RATE", 1},
                                                          {"RATE_TO_SET_ON_FIRST_CNP", 0},
                                                          {"DCE_TCP_G", 1019},
                                                          {"DCE_TCP_RTT", 1},
                                                          {"RATE_REDUCE_MONITOR_PERIOD", 4},
                                                          {"INITIAL_ALPHA_VALUE", 1023},
                                                          {"RPG_GD", 11},
                                                          {"MIN_TIME_BETWEEN_CNPS", 4},
                                                          {"CNP_DSCP", 48},
                                                          {"CNP_802P_PRIO", 6}};
  const Parameters mlx5 = Parameters::mlx5();
  std::size_t seen = 0;
  for (const Parameter& row : parameter_table()) {
    if (row.firmware_name.empty()) continue;
    ASSERT_TRUE(firmware.contains(row.firmware_name)) << row.firmware_name;
    EXPECT_EQ(row.read(mlx5), firmware.at(row.firmware_name)) << row.firmware_name;
    ++seen;
  }
  EXPECT_EQ(seen, firmware.size());
}

TEST(ParameterTable, EverySetIsInRangeAndReadsBackAsText) {
  for (const NamedSet& set : named_sets()) {
    const Parameters values = set.make();
    Parameters copy = values;
    for (const Parameter& row : parameter_table()) {
      EXPECT_GE(row.read(values), row.minimum) << row.name;
      EXPECT_LE(row.read(values), row.maximum) << row.name;
      const auto parsed = parse_value(row, value_text(row, values), copy);
      ASSERT_TRUE(parsed) << set.name << " " << row.name << " " << value_text(row, values);
    }
    EXPECT_EQ(copy, values) << set.name;
  }
}

// Each row writes its own field and nothing else.
TEST(ParameterTable, RowsAreIndependent) {
  for (const Parameter& row : parameter_table()) {
    Parameters changed = Parameters::mlx5();
    row.write(changed, row.read(changed) == row.minimum ? row.maximum : row.minimum);
    for (const Parameter& other : parameter_table()) {
      EXPECT_EQ(other.read(changed) != other.read(Parameters::mlx5()), other.name == row.name)
          << row.name << " changed " << other.name;
    }
  }
}

TEST(ParameterTable, EveryRowSaysWhereItsDefaultsComeFrom) {
  std::set<std::string_view> names;
  for (const Parameter& row : parameter_table()) {
    EXPECT_FALSE(row.origin_mlx5.empty() || row.origin_paper.empty() || row.meaning.empty()) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

TEST(ParameterTable, BadValuesNameWhatIsAllowedAndChangeNothing) {
  Parameters p = Parameters::mlx5();
  const auto error = [&](std::string_view name, std::string_view text) {
    const auto parsed = parse_value(*find_parameter(name), text, p);
    return parsed ? "accepted" : parsed.error().allowed;
  };
  EXPECT_NE(error("rp_time_reset", "300").find("unit missing"), std::string::npos);
  EXPECT_EQ(error("rp_time_reset", "1500ns"), "whole microseconds");
  EXPECT_EQ(error("rp_gd", "16"), "0 to 15");
  EXPECT_EQ(error("rp_dce_tcp_g", "1024/1024"), "0/1024 to 1023/1024");
  EXPECT_EQ(error("rp_clamp_tgt_rate", "2"), "true or false");
  EXPECT_EQ(error("np_cnp_dscp", "64").empty(), false);
  EXPECT_EQ(error("rp_ai_rate", "0Mbps"), "1Mbps to 800Gbps");
  EXPECT_EQ(p, Parameters::mlx5());
  EXPECT_EQ(find_parameter("rp_nothing"), nullptr);
}

// docs/congestion.md repeats the table for people; a changed default must change it there too.
TEST(ParameterTable, TheDocumentationHasEveryRowAsItIs) {
  std::ifstream file(source_root() + "/docs/congestion.md");
  std::stringstream document;
  document << file.rdbuf();
  for (const Parameter& row : parameter_table()) {
    const std::string line =
        fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |", row.name,
                    row.firmware_name.empty() ? "—" : fmt::format("`{}`", row.firmware_name), row.meaning,
                    name_of(row.unit), value_text(row, Parameters::mlx5()),
                    value_text(row, Parameters::paper()), value_text(row, Parameters::hpcc()));
    EXPECT_NE(document.str().find(line), std::string::npos) << "missing in docs/congestion.md:\n" << line;
  }
}

}  // namespace
}  // namespace rocetune::dcqcn
