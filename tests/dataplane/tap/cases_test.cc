// Every capture of tests/cases gives the facts that its expect.json asks for.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dataplane/base/json_reader.h"
#include "dataplane/tap/capture_analysis.h"
#include "tests/places.h"

namespace rocetune::tap {
namespace {

namespace fs = std::filesystem;

struct Case {
  fs::path capture;
  fs::path expectation;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.capture; }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& entry : fs::recursive_directory_iterator(source_root() + "/tests/cases")) {
    const fs::path& path = entry.path();
    if (path.extension() != ".pcap" && path.extension() != ".pcapng") continue;
    cases.push_back({path, path.parent_path() / "expect.json"});
  }
  std::ranges::sort(cases, {}, &Case::capture);
  return cases;
}

class CaptureCase : public testing::TestWithParam<Case> {};

TEST_P(CaptureCase, GivesTheExpectedFacts) {
  const auto [capture, expectation] = GetParam();
  std::ifstream stream(expectation);
  std::stringstream text;
  text << stream.rdbuf();
  const Json expected = parse_json(text.str(), expectation.string()).value();

  const auto file = MappedFile::open(capture.string());
  ASSERT_TRUE(file) << file.error().text();
  const auto facts = analyse_capture(file->bytes(), capture.string(), {});
  ASSERT_TRUE(facts) << facts.error().text();
  const std::vector<FactValue> values = fact_values(*facts);

  int checked = 0;
  const std::string suffix = "@" + capture.filename().string();
  for (const auto& [key, want] : expected.at("facts").as_object()) {
    const std::string name(key);
    if (!name.ends_with(suffix)) continue;
    const std::string fact = name.substr(0, name.size() - suffix.size());
    const auto found = std::ranges::find(values, fact, &FactValue::name);
    if (found == values.end()) {
      ADD_FAILURE() << fact << " is missing";
      continue;
    }
    ++checked;
    if (want.is_array()) {
      EXPECT_GE(found->value(), want.as_array()[0].to_number<double>()) << fact;
      EXPECT_LE(found->value(), want.as_array()[1].to_number<double>()) << fact;
    } else {
      const double number = want.to_number<double>();
      EXPECT_NEAR(found->value(), number, std::abs(number) * 1e-6) << fact;
    }
  }
  EXPECT_GT(checked, 0) << "expect.json says nothing about this capture";
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.capture.parent_path().filename().string().substr(0, 2) + "_" +
                     info.param.capture.filename().string();
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, CaptureCase, testing::ValuesIn(all_cases()), name_of);

TEST(Cases, AreAllThere) { EXPECT_GE(all_cases().size(), 21U); }

}  // namespace
}  // namespace rocetune::tap
