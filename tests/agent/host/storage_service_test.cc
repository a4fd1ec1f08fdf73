#include "agent/host/storage_service.h"

#include <gtest/gtest.h>

#include "agent/host/network_storage.h"

namespace rocetune::host {
namespace {

using Services = std::vector<StorageService>;

// As proc_lnet_nis prints them: one line per CPU partition.
TEST(LnetInterfaces, EachOnceWithoutTheLoopback) {
  EXPECT_EQ(parse_lnet_interfaces("nid                      status alive refs peer  rtr   max    tx   min\n"
                                  "0@lo                         up     0    2    0    0     0     0     0\n"
                                  "10.0.0.1@o2ib                up    -1    1   32    0   512   512   505\n"
                                  "10.0.0.1@o2ib                up    -1    0   32    0   512   512   511\n"
                                  "192.0.2.1@tcp4             down    -1    1    8    0   256   256   252\n"),
            (Services{{"Lustre (10.0.0.1@o2ib)", "10.0.0.1"}, {"Lustre (192.0.2.1@tcp4)", "192.0.2.1"}}));
}

TEST(LnetInterfaces, Ipv6HasItsAddressAndOtherNetworksHaveNone) {
  EXPECT_EQ(parse_lnet_interfaces("fd00::1@tcp up 0 1 8 0 256 256 252\n22@kfi up 0 1 8 0 256 256 252\n"),
            (Services{{"Lustre (fd00::1@tcp)", "fd00::1"}, {"Lustre (22@kfi)", ""}}));
}

TEST(LnetInterfaces, TextThatIsNoneGivesNone) {
  EXPECT_TRUE(parse_lnet_interfaces("").empty());
  EXPECT_TRUE(parse_lnet_interfaces("LNet is down\n\n").empty());
}

TEST(NetworkMounts, WhatALustreServerServesIsATarget) {
  const auto mounts = parse_network_mounts(
      "/dev/mapper/ost0 /mnt/ost0 lustre ro,svname=fs-OST0000,mgsnode=10.0.0.9@o2ib,osd=osd-ldiskfs 0 0\n"
      "pool/ost1 /mnt/ost1 lustre ro,svname=fs-OST0001,osd=osd-zfs 0 0\n"
      "/dev/sdc /mnt/mdt lustre_tgt ro,svname=fs-MDT0000 0 0\n"
      "10.0.0.9@o2ib:/fs /fs lustre rw 0 0\n");
  ASSERT_EQ(mounts.size(), 4u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(mounts[i].type, kLustreTarget) << mounts[i].where;
  EXPECT_EQ(mounts[3], (NetworkStorage{"/fs", "lustre", {"10.0.0.9"}}));
}

}  // namespace
}  // namespace rocetune::host
