#include "dataplane/base/config_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/places.h"

namespace rocetune {
namespace {

namespace fs = std::filesystem;

std::string source_text(const std::string& path) {
  std::ifstream in(fs::path(source_root()) / "configs" / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Directory {
 public:
  Directory() : path_(fs::path(testing::TempDir()) / "config_files_test") {
    fs::remove_all(path_);
    fs::create_directories(path_ / "nics");
  }
  ~Directory() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(ConfigFiles, BuiltInFilesEqualTheSourceTreeToTheByte) {
  const auto files = ConfigFiles().list("nics", ".toml");
  ASSERT_TRUE(files);
  ASSERT_FALSE(files->empty());
  for (const ConfigFile& file : *files) EXPECT_EQ(file.text, source_text(file.path)) << file.path;
}

TEST(ConfigFiles, AFileOfTheUsersReplacesTheBuiltInOne) {
  const Directory directory;
  directory.write("nics/mlx5.toml", "mine");
  const auto files = ConfigFiles::with_directory(directory.path());
  ASSERT_TRUE(files);
  EXPECT_EQ(files->read("nics/mlx5.toml")->text, "mine");
  EXPECT_EQ(files->read("nics/mlx5.toml")->name, directory.path() + "/nics/mlx5.toml");
  EXPECT_EQ(files->read("nics/unknown.toml")->text, source_text("nics/unknown.toml"));
}

TEST(ConfigFiles, ANewFileOfTheUsersIsListedBesideTheBuiltInOnes) {
  const Directory directory;
  directory.write("nics/zzz.toml", "new");
  directory.write("nics/readme.txt", "not a table");
  const auto files = ConfigFiles::with_directory(directory.path())->list("nics", ".toml");
  ASSERT_TRUE(files);
  EXPECT_EQ(files->back().path, "nics/zzz.toml");
  EXPECT_EQ(files->size(), ConfigFiles().list("nics", ".toml")->size() + 1);
}

TEST(ConfigFiles, AMissingFileNamesTheNearestOne) {
  const auto file = ConfigFiles().read("nics/mlx.toml");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind(), ErrorKind::bad_input);
  EXPECT_NE(file.error().text().find("nics/mlx5.toml"), std::string::npos);
}

TEST(ConfigFiles, AMissingDirectoryIsBadInput) {
  EXPECT_EQ(ConfigFiles::with_directory("/no/such/folder").error().kind(), ErrorKind::bad_input);
}

TEST(ConfigFiles, NoDirectoryLeavesWhatIsBuiltIn) {
  const auto files = ConfigFiles::with_directory("");
  ASSERT_TRUE(files);
  EXPECT_EQ(files->read("nics/mlx5.toml")->text, source_text("nics/mlx5.toml"));
}

TEST(ConfigFiles, AFileNamedByAnotherIsLookedForBesideIt) {
  const auto shipped = ConfigFiles().read("scenarios/replay-expert-dispatch.toml").value();
  const auto beside = read_beside(shipped.name, "replay-expert-dispatch.csv", Bytes(1 << 20));
  ASSERT_TRUE(beside) << beside.error().text();
  EXPECT_EQ(beside->text, source_text("scenarios/replay-expert-dispatch.csv"));
  EXPECT_EQ(beside->name, "built-in scenarios/replay-expert-dispatch.csv");
  EXPECT_FALSE(read_beside(shipped.name, "none.csv", Bytes(1 << 20)));
  const Directory directory;
  directory.write("flows.csv", "0,0,1,1\n");
  const auto own = read_beside(directory.path() + "/x.toml", "flows.csv", Bytes(1 << 20));
  ASSERT_TRUE(own) << own.error().text();
  EXPECT_EQ(own->text, "0,0,1,1\n");
  EXPECT_EQ(own->name, directory.path() + "/flows.csv");
}

constexpr NamedFiles scenarios() { return {.folder = "scenarios", .extension = ".toml"}; }

TEST(NamedFiles, AreThoseOfTheFolderAndOfFoldersWithin) {
  NamedFiles files = scenarios();
  files.within = {"reference"};
  const auto names = ConfigFiles().names(files).value();
  EXPECT_NE(std::ranges::find(names, "incast-pfc"), names.end());
  EXPECT_NE(std::ranges::find(names, "reference/incast2"), names.end());
  EXPECT_EQ(ConfigFiles().named(files, "reference/incast2", "SCENARIO")->path,
            "scenarios/reference/incast2.toml");
}

TEST(NamedFiles, APathIsRead) {
  const Directory directory;
  directory.write("own.toml", "name = 1");
  const auto file = ConfigFiles().named(scenarios(), directory.path() + "/own.toml", "SCENARIO").value();
  EXPECT_EQ(file.text, "name = 1");
  EXPECT_EQ(file.name, directory.path() + "/own.toml");
  const auto large = ConfigFiles().named(scenarios(), directory.path() + "/own.toml", "SCENARIO", Bytes(4));
  EXPECT_EQ(large.error().kind(), ErrorKind::bad_input);
  EXPECT_EQ(ConfigFiles().named(scenarios(), "no/such", "SCENARIO").error().kind(), ErrorKind::bad_input);
}

TEST(NamedFiles, AnUnknownNameSaysTheKnownOnes) {
  const auto error = ConfigFiles().named(scenarios(), "incast-pfk", "SCENARIO").error();
  EXPECT_EQ(error.kind(), ErrorKind::bad_input);
  EXPECT_EQ(error.text().find("SCENARIO: found incast-pfk, allowed: "), 0u);
  EXPECT_NE(error.text().find("or the path of a file; did you mean incast-pfc?"), std::string::npos);
}

}  // namespace
}  // namespace rocetune
