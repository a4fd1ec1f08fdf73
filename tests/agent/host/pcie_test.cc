#include "agent/host/pcie.h"

#include <gtest/gtest.h>

namespace rocetune::host {
namespace {

// Config space with a capability list; see PCI_* in include/uapi/linux/pci_regs.h.
class Config {
 public:
  explicit Config(std::size_t size) : bytes_(size, '\0') { word(0x06, 0x0010); }
  Config& byte(std::size_t at, unsigned value) {
    bytes_[at] = static_cast<char>(value);
    return *this;
  }
  Config& word(std::size_t at, unsigned value) { return byte(at, value & 0xff).byte(at + 1, value >> 8); }
  // PCI Express capability at 0x40 with this Device Control.
  Config& express(unsigned control) { return byte(0x34, 0x40).byte(0x40, 0x10).word(0x48, control); }
  Config& acs(unsigned control) { return word(0x100, 0x000d).word(0x102, 0x0001).word(0x106, control); }
  std::string_view text() const { return bytes_; }

 private:
  std::string bytes_;
};

TEST(PciConfig, ReadsDeviceControl) {
  const auto config = parse_pci_config(Config(256).express(0x5010 | 1 << 5).text());
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->max_read_request, Bytes(4096));
  EXPECT_EQ(config->max_payload, Bytes(256));
  EXPECT_EQ(config->relaxed_ordering, true);
  EXPECT_FALSE(config->acs_redirects);
}

TEST(PciConfig, AReservedSizeIsUnknown) {
  EXPECT_FALSE(parse_pci_config(Config(256).express(7 << 12).text())->max_read_request);
}

TEST(PciConfig, WhatUnprivilegedReadersGetIsDeniedNotAbsent) {
  EXPECT_EQ(parse_pci_config(Config(64).text()).error().kind(), ErrorKind::denied);
}

TEST(PciConfig, AConventionalDeviceHasNoCapability) {
  EXPECT_EQ(parse_pci_config(Config(256).byte(0x34, 0x50).byte(0x50, 0x01).text()).error().kind(),
            ErrorKind::absent);
}

TEST(PciConfig, ALoopInTheCapabilityListEnds) {
  const auto config = parse_pci_config(Config(256).byte(0x34, 0x50).byte(0x50, 1).byte(0x51, 0x50).text());
  EXPECT_EQ(config.error().kind(), ErrorKind::io);
}

TEST(PciConfig, AnyRedirectBitOfAcsCounts) {
  for (const auto& [control, redirects] :
       {std::pair{0x0u, false}, {0x1u, false}, {0x4u, true}, {0x8u, true}, {0x10u, true}}) {
    EXPECT_EQ(parse_pci_config(Config(4096).express(0).acs(control).text())->acs_redirects, redirects)
        << control;
  }
}

TEST(PciAddress, IsFoundInAPath) {
  const std::string path = "/sys/devices/pci0000:3a/0000:3a:00.0/10000:3b:1f.7/virtio0";
  EXPECT_EQ(pci_addresses_in(path), (std::vector<std::string>{"0000:3a:00.0", "10000:3b:1f.7"}));
  EXPECT_EQ(pci_address_in(path), "10000:3b:1f.7");
  EXPECT_FALSE(pci_address_in("/sys/devices/virtual/net/veth0"));
  EXPECT_FALSE(pci_address_in("0000:3a:00.8"));
}

TEST(PciLinkSpeed, UnknownIsNoNumber) {
  EXPECT_EQ(parse_link_speed("16.0 GT/s PCIe"), 16.0);
  EXPECT_EQ(parse_link_speed("8 GT/s"), 8.0);
  EXPECT_FALSE(parse_link_speed("Unknown"));
}

}  // namespace
}  // namespace rocetune::host
