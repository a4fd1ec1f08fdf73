#include "agent/diagnose/policy.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace rocetune::diagnose {
namespace {

// A configuration folder of the user's with rules.toml in it.
class UserConfigs {
 public:
  UserConfigs() {
    char name[] = "/tmp/rules-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~UserConfigs() { std::filesystem::remove_all(folder_); }
  void write(const std::string& text) const { std::ofstream(folder_ + "/rules.toml") << text; }
  Expected<Policy> load() const {
    const auto files = ConfigFiles::with_directory(folder_);
    return load_policy(*files, *host::NicTable::load(*files));
  }

 private:
  std::string folder_;
};

std::string built_in() { return ConfigFiles().read("rules.toml")->text; }

std::string with(std::string text, const std::string& old, const std::string& replacement) {
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), replacement);
}

TEST(Policy, BuiltInOneLoads) {
  const auto policy = load_policy(ConfigFiles(), *host::NicTable::load(ConfigFiles()));
  ASSERT_TRUE(policy) << policy.error().text();
  EXPECT_EQ(policy->plan.data_dscp, Dscp(26));
  EXPECT_EQ(policy->storm_share, Ratio::from_percent(99));
  ASSERT_NE(policy->traits_of("mlx5"), nullptr);
  EXPECT_NE(policy->traits_of("mlx5")->row.cc.find("np_cnp_dscp"), nullptr);
  EXPECT_EQ(policy->traits_of("unknown"), nullptr);
  EXPECT_EQ(policy->traits_of("acme"), nullptr);
}

TEST(Policy, AUsersFileReplacesIt) {
  const UserConfigs configs;
  configs.write(with(built_in(), "idle_below_packets = 1000", "idle_below_packets = 7"));
  ASSERT_TRUE(configs.load());
  EXPECT_EQ(configs.load()->idle_below_packets, 7u);
}

TEST(Policy, EveryMistakeIsNamedWithItsPlace) {
  const UserConfigs configs;
  std::string text = with(built_in(), "storm_share = \"99%\"", "storm_share = 99");
  text = with(text, "cnp_priority = 6", "cnp_priority = 3");
  text = with(text, "[nic.ionic]", "[nic.ionik]");
  text = with(text, "stall_percent", "stal_percent");
  configs.write(text);
  const auto policy = configs.load();
  ASSERT_FALSE(policy);
  const std::string message = policy.error().text();
  for (const char* part :
       {"storm_share", "cnp_priority", "did you mean ionic", "did you mean stall_percent", "rules.toml:"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

}  // namespace
}  // namespace rocetune::diagnose
