#include "dataplane/base/part.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/dataplane/base/greeter.h"
#include "tests/places.h"

namespace rocetune {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

const std::vector<std::string> kFakes{test_build_folder()};

TEST(OpenPart, CallsAcrossTheBorder) {
  const Expected<Greeter<part_name::friendly>*> part = open_part<Greeter<part_name::friendly>>(kFakes);
  ASSERT_TRUE(part) << part.error().text();
  const std::string long_name(1000, 'x');  // longer than what a string keeps inside itself
  EXPECT_EQ((*part)->greet(long_name), "hello, " + long_name);
}

TEST(OpenPart, MissingModuleIsAbsentAndNamesThePlaces) {
  const auto part = open_part<Greeter<part_name::missing>>({"/nowhere/a", "/nowhere/b"});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind(), ErrorKind::absent);
  EXPECT_EQ(part.error().text(), "librocetune-missing.so is in none of: /nowhere/a, /nowhere/b");
}

TEST(OpenPart, FirstFolderThatHasTheModuleWins) {
  const fs::path folder = testing::TempDir() + "/parts-first";
  fs::create_directories(folder);
  std::ofstream(folder / "librocetune-friendly.so") << "not a module";
  EXPECT_TRUE(open_part<Greeter<part_name::friendly>>({kFakes[0], folder.string()}));
  EXPECT_FALSE(open_part<Greeter<part_name::friendly>>({folder.string(), kFakes[0]}));
}

TEST(OpenPart, OtherProjectVersionIsUnusable) {
  const auto part = open_part<Greeter<part_name::stranger>>(kFakes);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind(), ErrorKind::unsupported);
  EXPECT_THAT(part.error().text(),
              HasSubstr("it belongs to rocetune 0.0.1-other, this is " ROCETUNE_VERSION));
}

TEST(OpenPart, OtherContractVersionIsUnusable) {
  const auto part = open_part<Greeter<part_name::friendly, 2>>(kFakes);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind(), ErrorKind::unsupported);
  EXPECT_THAT(part.error().text(), HasSubstr("it speaks version 1 of its contract, this program 2"));
}

TEST(OpenPart, ModuleUnderAnotherPartsNameIsUnusable) {
  const auto part = open_part<Greeter<part_name::impostor>>(kFakes);
  ASSERT_FALSE(part);
  EXPECT_THAT(part.error().text(), HasSubstr("it is the part somebody-else, not impostor"));
}

TEST(OpenPart, ModuleWithoutDescriptionIsUnusable) {
  const auto part = open_part<Greeter<part_name::silent>>(kFakes);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind(), ErrorKind::unsupported);
  EXPECT_THAT(part.error().text(), HasSubstr("no part of rocetune"));
}

TEST(OpenPart, DescriptionWithoutOurMagicIsUnusable) {
  const auto part = open_part<Greeter<part_name::unmarked>>(kFakes);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind(), ErrorKind::unsupported);
  EXPECT_THAT(part.error().text(), HasSubstr("no part of rocetune"));
}

TEST(OpenPart, MissingLibraryIsNamed) {
  const auto part = open_part<Greeter<part_name::needy>>(kFakes);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind(), ErrorKind::unsupported);
  EXPECT_THAT(part.error().text(), HasSubstr("librte_went_away.so.23"));
}

TEST(OpenPart, FileThatIsNoModuleIsUnusable) {
  const fs::path folder = testing::TempDir() + "/parts-garbage";
  fs::create_directories(folder);
  std::ofstream(folder / "librocetune-garbage.so") << "not a module";
  const auto part = open_part<Greeter<part_name::garbage>>({folder.string()});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind(), ErrorKind::unsupported);
}

TEST(PartSearchPath, EnvironmentReplacesAllPlaces) {
  setenv("ROCETUNE_PART_DIR", "/opt/parts", 1);
  EXPECT_EQ(part_search_path(), std::vector<std::string>{"/opt/parts"});
  unsetenv("ROCETUNE_PART_DIR");
}

TEST(PartSearchPath, LooksBesideTheExecutableThenInTheInstalledFolder) {
  unsetenv("ROCETUNE_PART_DIR");
  const std::string here = fs::read_symlink("/proc/self/exe").parent_path();
  EXPECT_EQ(part_search_path(),
            (std::vector<std::string>{here + "/parts", here, ROCETUNE_INSTALLED_PART_DIR}));
}

TEST(SurveyParts, ListsEveryKnownPartWithItsState) {
  const std::vector<PartStatus> parts = survey_parts({"/nowhere"});
  std::vector<std::string> names;
  for (const PartStatus& part : parts) {
    names.push_back(part.name);
    EXPECT_EQ(part.state, PartStatus::State::absent);
    EXPECT_THAT(part.why, HasSubstr("/nowhere"));
    EXPECT_FALSE(part.purpose.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"dpdk", "topology", "verbs"}));
}

TEST(SurveyParts, ModuleThatCannotBeLoadedIsUnusableNotAbsent) {
  const fs::path folder = testing::TempDir() + "/parts-survey";
  fs::create_directories(folder);
  std::ofstream(folder / "librocetune-verbs.so") << "not a module";
  const std::vector<PartStatus> parts = survey_parts({folder.string()});
  EXPECT_EQ(parts.back().state, PartStatus::State::unusable);
  EXPECT_FALSE(parts.back().why.empty());
}

}  // namespace
}  // namespace rocetune
