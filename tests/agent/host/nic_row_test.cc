#include "agent/host/nic_row.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rocetune::host {
namespace {

TEST(NicTable, BuiltInRowsLoad) {
  const auto table = NicTable::load(ConfigFiles());
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->for_driver("mlx5_core").name, "mlx5");
  EXPECT_EQ(table->for_driver("bnxt_en").name, "bnxt");
  EXPECT_EQ(table->for_driver("ice").name, "irdma");
  EXPECT_EQ(table->for_driver("ionic").name, "ionic");
  EXPECT_EQ(table->for_driver("some_new_nic").name, "unknown");
  EXPECT_EQ(table->named("rxe").rdma_driver, "rdma_rxe");
}

TEST(NicTable, AnUnknownNicIsTreatedWithCare) {
  const auto table = NicTable::load(ConfigFiles());
  ASSERT_TRUE(table);
  const NicRow& row = table->named("unknown");
  for (const WriteEffect effect :
       {row.writes.pfc, row.writes.ets, row.writes.app, row.writes.mtu, row.writes.pause}) {
    EXPECT_EQ(effect, WriteEffect::bounces_link);
  }
  EXPECT_TRUE(row.dcb.buffer_write_is_sticky);
  EXPECT_TRUE(row.cc.parameters.empty());
}

// By driver: mlx5 bounces the link for PFC alone, ice closes the interface for every table.
TEST(NicTable, WritesDoWhatTheDriverDoes) {
  const auto table = NicTable::load(ConfigFiles());
  ASSERT_TRUE(table);
  const WriteTraits& mlx5 = table->named("mlx5").writes;
  EXPECT_EQ(mlx5.pfc, WriteEffect::bounces_link);
  EXPECT_EQ(mlx5.ets, WriteEffect::none);
  EXPECT_EQ(mlx5.mtu, WriteEffect::stops_traffic);
  const WriteTraits& ice = table->for_driver("ice").writes;
  for (const WriteEffect effect : {ice.pfc, ice.ets, ice.app})
    EXPECT_EQ(effect, WriteEffect::closes_interface);
  EXPECT_EQ(ice.pause, WriteEffect::bounces_link);
  EXPECT_EQ(table->for_driver("bnxt_en").writes.pfc, WriteEffect::stops_traffic);
  EXPECT_FALSE(table->for_driver("ice").dcb.refuses_bond_members.empty());
  EXPECT_TRUE(table->named("mlx5").dcb.refuses_bond_members.empty());
}

TEST(NicTable, Mlx5ParametersHaveTheirRanges) {
  const auto table = NicTable::load(ConfigFiles());
  ASSERT_TRUE(table);
  const CcParameter* const parameter = table->named("mlx5").cc.find("np_cnp_dscp");
  ASSERT_NE(parameter, nullptr);
  EXPECT_EQ(parameter->default_value, 48);
  EXPECT_EQ(parameter->max, 63);
  EXPECT_EQ(table->named("mlx5").cc.find("np_cnp_dcsp"), nullptr);
}

TEST(NicTable, ARowMayHaveTheParametersOfAnother) {
  const auto table = NicTable::load(ConfigFiles());
  ASSERT_TRUE(table);
  const NicRow& fabric = table->named("fabric");
  EXPECT_EQ(fabric.cc.interface, CcInterface::scenario);
  EXPECT_EQ(fabric.cc.parameters.size(), table->named("mlx5").cc.parameters.size());
  EXPECT_EQ(fabric.cc.find("np_cnp_dscp")->default_value, 48);
}

TEST(NicTable, ParametersOfARowThatIsNotThereAreAnIssue) {
  std::vector<ConfigFile> files = *ConfigFiles().list("nics", ".toml");
  for (ConfigFile& file : files) {
    const auto at = file.text.find("parameters_of = \"mlx5\"");
    if (at != std::string::npos) file.text.replace(at, 22, "parameters_of = \"mlx6\"");
  }
  const auto table = NicTable::parse(files);
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().text().find("fabric: cc.parameters_of: found mlx6"), std::string::npos)
      << table.error().text();
}

TEST(NicTable, ABadRowOfTheUsersNamesEveryIssueWithItsPlace) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "nic_row_test";
  std::filesystem::create_directories(folder / "nics");
  std::ofstream(folder / "nics/mlx5.toml") << "name = \"mlx5\"\nnetdev_driver = [\"mlx5_core\"]\n";
  const auto files = ConfigFiles::with_directory(folder.string());
  ASSERT_TRUE(files);
  const auto table = NicTable::load(*files);
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().kind(), ErrorKind::bad_input);
  const std::string text = table.error().text();
  EXPECT_NE(text.find("mlx5.toml:2"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean netdev_drivers"), std::string::npos) << text;
  EXPECT_NE(text.find("rdma_driver"), std::string::npos) << text;
}

// A port out of texts: what its drivers or the RDMA device's name tell.
TEST(NicTable, PortsWithoutARowAreNamed) {
  const auto table = NicTable::load(ConfigFiles());
  ASSERT_TRUE(table);
  Host host;
  const auto add = [&](const char* driver, const char* device, const char* rdma_driver) {
    Port port;
    port.driver = driver;
    if (*device != '\0') {
      RdmaPort rdma;
      rdma.device = device;
      rdma.driver = rdma_driver;
      port.rdma = rdma;
    }
    host.ports.push_back(port);
  };
  add("bnxt_en", "", "");
  add("", "mlx5_3", "");
  add("", "rocep1s0", "irdma");
  add("", "qedr0", "");
  add("mlx5_core", "rxe0", "rdma_rxe");
  host.ports.push_back(host.ports[1]);
  host.ports.back().nic = "fabric";
  name_nics(host, *table);
  std::vector<std::string> names;
  for (const Port& port : host.ports) names.push_back(port.nic);
  EXPECT_EQ(names, (std::vector<std::string>{"bnxt", "mlx5", "irdma", "unknown", "rxe", "fabric"}));
}

}  // namespace
}  // namespace rocetune::host
