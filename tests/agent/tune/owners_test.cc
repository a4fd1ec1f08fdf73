#include "agent/tune/owners.h"

#include <gtest/gtest.h>

#include "dataplane/base/config_files.h"

namespace rocetune::tune {
namespace {

using host::KnobKind;

TEST(Owners, BuiltInTableLoads) {
  const auto file = ConfigFiles().read("tune/owners.toml");
  ASSERT_TRUE(file);
  const auto table = owners_from_toml(file->text, file->name);
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_TRUE(table->may_write("netplan", KnobKind::mtu));
  EXPECT_FALSE(table->may_write("netplan", KnobKind::pfc));
  EXPECT_TRUE(table->may_write("lldpad", KnobKind::pfc));
  EXPECT_FALSE(table->may_write("lldpad", KnobKind::mtu));
  EXPECT_FALSE(table->may_write("lldpd", KnobKind::pfc));
  EXPECT_TRUE(table->may_write("nobody knows it", KnobKind::buffers));
}

TEST(Owners, AKnobThatDoesNotExistIsNamedWithTheNearest) {
  const auto table =
      owners_from_toml("[[owner]]\nname = \"x\"\nwrites = [\"mtuu\"]\norigin = \"y\"\n", "o.toml");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().kind(), ErrorKind::bad_input);
  const std::string text = table.error().text();
  EXPECT_NE(text.find("o.toml:3"), std::string::npos) << text;
  EXPECT_NE(text.find("found mtuu"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean mtu?"), std::string::npos) << text;
}

}  // namespace
}  // namespace rocetune::tune
