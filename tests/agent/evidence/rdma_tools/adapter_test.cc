// mlxlink, mlxconfig, mlxfwmanager, FEC histograms.
#include "agent/evidence/rdma_tools/fec_histogram.h"
#include "agent/evidence/rdma_tools/mlxconfig.h"
#include "agent/evidence/rdma_tools/mlxfwmanager.h"
#include "agent/evidence/rdma_tools/mlxlink.h"
#include "tests/agent/evidence/rdma_tools/rdma_texts.h"

namespace rocetune::evidence {
namespace {

TEST(Mlxlink, CountersAndLanes) {
  const TextReading reading = read_rdma_fixture("mlxlink/bad-lane.txt");
  const auto report = content_of<MlxlinkReport>(reading, "mlxlink");
  EXPECT_EQ(report.speed, BitRate(200'000'000'000));
  EXPECT_EQ(report.effective_errors, 81234u);
  EXPECT_DOUBLE_EQ(report.effective_ber.value_or(0), 3e-10);
  EXPECT_EQ(report.recommendation, "");
  EXPECT_EQ(fact_of(reading, "link.worst_lane"), 2);
  EXPECT_EQ(reading.report.unread, 0);
}

TEST(Mlxlink, TheSmallestRatioIsNone) {
  const auto report = content_of<MlxlinkReport>(read_rdma_fixture("mlxlink/healthy.txt"), "mlxlink");
  EXPECT_EQ(report.effective_ber, 0.0) << "15E-255";
  ASSERT_EQ(report.bins.size(), 3u);
  EXPECT_EQ(report.bins[1].codewords, 118358u);
}

TEST(Mlxlink, JsonWithListsAsValues) {
  const auto report = content_of<MlxlinkReport>(read_rdma_fixture("mlxlink/values.json"), "mlxlink");
  EXPECT_EQ(report.state, "Active");
  EXPECT_EQ(report.raw_errors_of_lane, (std::vector<std::uint64_t>{10, 20, 3000, 5}));
  ASSERT_EQ(report.bins.size(), 2u);
  EXPECT_EQ(report.bins[1].bin, 13);
  EXPECT_EQ(report.bins[1].codewords, 4u);
}

TEST(Mlxlink, APortWithoutCable) {
  const auto report = content_of<MlxlinkReport>(read_rdma_fixture("mlxlink/unplugged.txt"), "mlxlink");
  EXPECT_FALSE(report.is_active());
  EXPECT_FALSE(report.speed);
  EXPECT_FALSE(report.effective_errors) << "N/A is not zero";
  EXPECT_EQ(report.recommendation, "Cable is unplugged");
}

TEST(Mlxconfig, PresentValuesAndThoseOfTheNextBoot) {
  const auto query = content_of<MlxconfigQuery>(read_rdma_fixture("mlxconfig/extended.txt"), "mlxconfig");
  ASSERT_EQ(query.devices.size(), 1u);
  EXPECT_EQ(query.devices[0].device, "0000:03:00.0");
  const MlxconfigSetting* vfs = query.devices[0].find("NUM_OF_VFS");
  ASSERT_NE(vfs, nullptr);
  EXPECT_EQ(vfs->current, "0");
  EXPECT_EQ(vfs->next_boot, "16");
  EXPECT_EQ(mlxconfig_number(query.devices[0].find("USER_PROGRAMMABLE_CC")->next_boot), 1);
}

TEST(Mlxconfig, GreppedRows) {
  const auto query = content_of<MlxconfigQuery>(read_rdma_fixture("mlxconfig/grepped.txt"), "mlxconfig");
  ASSERT_EQ(query.devices.size(), 1u);
  EXPECT_EQ(query.devices[0].settings.size(), 4u);
  EXPECT_FALSE(query.devices[0].settings[0].current);
}

TEST(Mlxfwmanager, AdaptersWithPsidAndFirmware) {
  const auto list = content_of<AdapterList>(read_rdma_fixture("mlxfwmanager/two.txt"), "mlxfwmanager");
  ASSERT_EQ(list.adapters.size(), 2u);
  EXPECT_EQ(list.adapters[0].firmware, "22.31.1014") << "not the running one";
  EXPECT_EQ(list.adapters[0].available, "22.33.1048");
  EXPECT_EQ(list.adapters[1].available, "");
  EXPECT_EQ(list.adapters[1].psid, "MT_0000000359");
  EXPECT_EQ(
      content_of<AdapterList>(read_rdma_fixture("mlxfwmanager/flint.txt"), "mlxfwmanager").adapters.size(),
      1u);
}

TEST(FecHistogram, BinsOfAnySpelling) {
  const TextReading sonic = read_rdma_fixture("fec-histogram/sonic.txt");
  EXPECT_EQ(content_of<FecHistogram>(sonic, "fec-histogram").bins.size(), 4u);
  EXPECT_EQ(sonic.report.unread, 0);
  EXPECT_EQ(fec_bin_of("Bin 3 : [3:3]  17")->codewords, 17u);
  EXPECT_EQ(fec_bin_of("bin[12]: 5")->bin, 12);
  EXPECT_FALSE(fec_bin_of("Bin 3 of 17 bolts 4"));
  EXPECT_FALSE(fec_bin_of("binary 3"));
}

}  // namespace
}  // namespace rocetune::evidence
