#include "agent/counters/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace rocetune::counters {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kSchema = R"(schema_version = 1
[[counter]]
name = "rx_pause_frames"
per = "priority"
unit = "frames"
direction = "receive"
kind = "counter"
meaning = "m"
[[counter]]
name = "cnp_sent"
per = "port"
unit = "packets"
direction = "transmit"
kind = "counter"
meaning = "m"
)";
constexpr const char* kVendor = R"(schema_version = 1
nic = "a"
[[counter]]
name = "cnp_sent"
rdma = ["np_cnp_sent"]
width_bits = 64
counts = "bond"
exists_when = "always"
origin = "o"
)";

std::string errors(std::vector<ConfigFile> files) {
  const auto schema = Schema::parse(files);
  if (schema) return "";
  EXPECT_EQ(schema.error().kind(), ErrorKind::bad_input);
  return schema.error().text();
}
ConfigFile schema_file(std::string text) { return {"counters/schema.toml", "schema.toml", std::move(text)}; }
ConfigFile vendor_file(std::string text) { return {"counters/a.toml", "a.toml", std::move(text)}; }
std::string vendor_errors(const std::string& find, const std::string& replace) {
  std::string text = kVendor;
  const auto at = text.find(find);
  EXPECT_NE(at, std::string::npos) << find;
  text.replace(at, find.size(), replace);
  return errors({schema_file(kSchema), vendor_file(text)});
}

TEST(Schema, BuiltInTablesLoad) {
  const auto schema = Schema::load(ConfigFiles());
  ASSERT_TRUE(schema) << schema.error().text();
  std::set<std::string> nics;
  for (const auto& [nic, table] : schema->vendors()) nics.insert(nic);
  EXPECT_THAT(nics, ::testing::ElementsAre("bnxt", "fabric", "ionic", "irdma", "mlx5", "rxe"));
}

TEST(Schema, EveryVendorSaysWhereEachCounterIsOrWhyItIsNot) {
  const Schema schema = Schema::load(ConfigFiles()).value();
  for (const auto& [nic, table] : schema.vendors()) {
    for (const Definition& definition : schema.definitions()) {
      EXPECT_TRUE(table.rows.contains(definition.name)) << nic << " " << definition.name;
    }
  }
}

TEST(Schema, NoVendorNameFeedsTwoCountersOfTheSameMeaning) {
  const Schema schema = Schema::load(ConfigFiles()).value();
  // One hardware counter under two of our names is legitimate only where the NIC itself merges two ideas.
  const std::set<std::string> merged{"bnxt ethtool rx_pause_frames", "bnxt ethtool tx_pause_frames"};
  for (const auto& [nic, table] : schema.vendors()) {
    std::set<std::string> seen;
    for (const auto& [name, row] : table.rows) {
      for (const Source source : kSources) {
        for (const std::string& vendor_name : row.names[index_of(source)]) {
          const std::string key = nic + " " + std::string(enum_name(source)) + " " + vendor_name;
          EXPECT_TRUE(seen.insert(key).second || merged.contains(key)) << key << " again for " << name;
        }
      }
    }
  }
}

TEST(Schema, Mlx5QueueCountersAre32BitsWideAndCongestionCounters64OverABond) {
  const Schema schema = Schema::load(ConfigFiles()).value();
  const auto& rows = schema.vendor("mlx5")->rows;
  EXPECT_EQ(rows.find("out_of_sequence")->second.width_bits, 32);
  EXPECT_EQ(rows.find("out_of_sequence")->second.counts, Scope::function);
  EXPECT_EQ(rows.find("cnp_sent")->second.width_bits, 64);
  EXPECT_EQ(rows.find("cnp_sent")->second.counts, Scope::bond);
}

TEST(Schema, SlotsHoldEachPriorityOnce) {
  const Schema schema = Schema::parse({schema_file(kSchema)}).value();
  ASSERT_EQ(schema.slots().size(), 9u);
  EXPECT_EQ(schema.slots()[3].id, (CounterId{"rx_pause_frames", Priority(3)}));
  EXPECT_EQ(schema.slots()[8].id, (CounterId{"cnp_sent", std::nullopt}));
  EXPECT_EQ(schema.find("cnp_sent")->direction, Direction::transmit);
  EXPECT_EQ(schema.find("nothing"), nullptr);
  EXPECT_EQ(schema.vendor("nobody"), nullptr);
}

TEST(Schema, UnknownCounterNameSaysTheNearest) {
  EXPECT_THAT(vendor_errors("\"cnp_sent\"", "\"cnp_send\""),
              AllOf(HasSubstr("a.toml:4:"), HasSubstr("did you mean cnp_sent?")));
}

TEST(Schema, UnknownKeySaysTheNearest) {
  EXPECT_THAT(vendor_errors("width_bits", "widht_bits"),
              AllOf(HasSubstr("a.toml:6:"), HasSubstr("width_bits")));
}

TEST(Schema, WidthIsThirtyTwoOrSixtyFour) {
  EXPECT_THAT(vendor_errors("= 64", "= 48"), AllOf(HasSubstr("a.toml:6:"), HasSubstr("32, 64")));
}

TEST(Schema, ARowNeedsASourceOrAReason) {
  EXPECT_THAT(vendor_errors("rdma = [\"np_cnp_sent\"]\n", ""), HasSubstr("at least one of them"));
}

TEST(Schema, AReasonExcludesASource) {
  EXPECT_THAT(vendor_errors("width_bits = 64", "absent = \"no\""), HasSubstr("a.toml:5:"));
}

TEST(Schema, PriorityPlaceholderMustFitTheCounter) {
  EXPECT_THAT(vendor_errors("np_cnp_sent", "np_{p}_cnp_sent"), HasSubstr("without {p}"));
  EXPECT_THAT(vendor_errors("\"cnp_sent\"", "\"rx_pause_frames\""), HasSubstr("with {p}"));
}

TEST(Schema, TheSameCounterTwiceIsAnIssue) {
  const std::string row = std::string(kVendor).substr(std::string(kVendor).find("[[counter]]"));
  EXPECT_THAT(errors({schema_file(kSchema), vendor_file(kVendor + row)}), HasSubstr("no other row"));
  const std::string definition = std::string(kSchema).substr(std::string(kSchema).rfind("[[counter]]"));
  EXPECT_THAT(errors({schema_file(kSchema + definition)}), HasSubstr("no other counter has"));
}

TEST(Schema, TheSameNicTwiceIsAnIssue) {
  ConfigFile again = vendor_file(kVendor);
  again.name = "b.toml";
  EXPECT_THAT(errors({schema_file(kSchema), vendor_file(kVendor), again}),
              AllOf(HasSubstr("b.toml:2:"), HasSubstr("no other file describes")));
}

TEST(Schema, MicrosecondsEndInUs) {
  std::string text = kSchema;
  text.replace(text.find("\"frames\""), 8, "\"microseconds\"");
  EXPECT_THAT(errors({schema_file(text)}), HasSubstr("ends in _us"));
}

TEST(Schema, AllIssuesOfAllFilesAtOnce) {
  std::string bad_schema = kSchema;
  bad_schema.replace(bad_schema.find("\"receive\""), 9, "\"recieve\"");
  std::string bad_vendor = kVendor;
  bad_vendor.replace(bad_vendor.find("\"bond\""), 6, "\"bonds\"");
  EXPECT_THAT(errors({schema_file(bad_schema), vendor_file(bad_vendor)}),
              AllOf(HasSubstr("did you mean receive?"), HasSubstr("did you mean bond?")));
}

TEST(Schema, NewerVersionIsRefused) {
  EXPECT_THAT(errors({schema_file("schema_version = 2\n")}), HasSubstr("schema.toml:1:"));
}

TEST(Schema, NeedsItsSchemaFile) { EXPECT_THAT(errors({vendor_file(kVendor)}), HasSubstr("no schema.toml")); }

// "... is not there; it exists <exists_when>" has to read as a sentence.
TEST(Schema, WhenACounterExistsReadsAsASentence) {
  const auto schema = Schema::load(ConfigFiles());
  ASSERT_TRUE(schema) << schema.error().text();
  for (const auto& [nic, table] : schema->vendors()) {
    for (const auto& [name, row] : table.rows) {
      if (!row.absent.empty()) continue;
      const std::string first = row.exists_when.substr(0, row.exists_when.find(' '));
      EXPECT_TRUE(first == "always" || first == "only" || first == "on" || first == "as" || first == "with" ||
                  first == "once" || first == "from" || first == "if")
          << nic << " " << name << ": " << row.exists_when;
    }
  }
}

}  // namespace
}  // namespace rocetune::counters
