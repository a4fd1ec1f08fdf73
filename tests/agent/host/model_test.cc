#include "agent/host/model.h"

#include <gtest/gtest.h>

namespace rocetune::host {
namespace {

TEST(HostModel, JsonReadsBackEqual) {
  Host host;
  host.name = "h1";
  host.lockdown = Lockdown::integrity;
  Port port;
  port.name = "eth0";
  port.mtu = Bytes(9000);
  port.dcb.pfc = Pfc{.enabled = PrioritySet::of(Priority(3)), .capable = 8};
  port.dcb.app = std::vector<AppEntry>{{AppSelector::dscp, 26, Priority(3)}};
  port.cc_params = denied("kernel lockdown");
  port.rdma = RdmaPort{.device = "mlx5_0",
                       .gids = {Gid{3, GidType::roce_v2, "0000:0000:0000:0000:0000:ffff:0a00:0001"}}};
  host.ports.push_back(port);
  const std::string text = to_json_text(host);
  const auto read = host_from_json(text, "t");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, host);
  EXPECT_EQ(to_json_text(*read), text);
}

TEST(HostModel, FindsThePriorityOfADscp) {
  Dcb dcb;
  EXPECT_EQ(priority_of_dscp(dcb, Dscp(26)), std::nullopt);
  dcb.app =
      std::vector<AppEntry>{{AppSelector::ethertype, 26, Priority(1)}, {AppSelector::dscp, 26, Priority(3)}};
  EXPECT_EQ(priority_of_dscp(dcb, Dscp(26)), Priority(3));
  EXPECT_EQ(priority_of_dscp(dcb, Dscp(27)), std::nullopt);
}

}  // namespace
}  // namespace rocetune::host
