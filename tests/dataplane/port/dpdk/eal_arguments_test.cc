#include "dataplane/port/dpdk/eal_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocetune::dpdk {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(SplitArguments, BlanksSeparate) {
  EXPECT_THAT(split_arguments("  --no-huge -m  64\t--no-pci ", "--dpdk").value(),
              ElementsAre("--no-huge", "-m", "64", "--no-pci"));
}

TEST(SplitArguments, QuotesHoldTogether) {
  EXPECT_THAT(
      split_arguments(R"(--vdev='net_pcap0,rx_pcap=my file.pcap' --lcores "0@0, 1@1" '')", "--dpdk").value(),
      ElementsAre("--vdev=net_pcap0,rx_pcap=my file.pcap", "--lcores", "0@0, 1@1", ""));
}

TEST(SplitArguments, RefusesAQuoteWithoutEnd) {
  const auto words = split_arguments("--vdev='net_ring0", "--dpdk");
  ASSERT_FALSE(words);
  EXPECT_EQ(words.error().kind(), ErrorKind::bad_input);
  EXPECT_EQ(words.error().text(), "--dpdk: found --vdev='net_ring0, allowed: a second '");
}

TEST(HasOption, KnowsBothWaysOfAValue) {
  const std::vector<std::string> words{"-l", "0", "-m64", "--file-prefix=x"};
  EXPECT_TRUE(has_option(words, "-l"));
  EXPECT_TRUE(has_option(words, "-m"));
  EXPECT_TRUE(has_option(words, "--file-prefix"));
  EXPECT_FALSE(has_option(words, "--file"));
  EXPECT_FALSE(has_option({"--log-level=8"}, "-l"));
}

TEST(EnvironmentArguments, FillsInWhatWasNotSaid) {
  EXPECT_THAT(environment_arguments({"--no-huge"}, "rocetune-1", "0,1"),
              ElementsAre("rocetune", "--lcores=0@(0,1)", "-m", "512", "--file-prefix=rocetune-1",
                          "--no-telemetry", "--no-huge"));
}

TEST(EnvironmentArguments, HugePagesNeedNoAmount) {
  EXPECT_THAT(environment_arguments({"-l", "3"}, "rocetune-1", "0,1"),
              ElementsAre("rocetune", "--file-prefix=rocetune-1", "--no-telemetry", "-l", "3"));
}

TEST(EnvironmentArguments, VhostIsQuietUnlessAsked) {
  EXPECT_THAT(environment_arguments({"-l0", "--vdev=net_vhost0,iface=/a"}, "rocetune-1", "0"),
              ElementsAre("rocetune", "--file-prefix=rocetune-1", "--no-telemetry",
                          "--log-level=lib.vhost.*:warning", "-l0", "--vdev=net_vhost0,iface=/a"));
  EXPECT_THAT(
      environment_arguments({"-l0", "--vdev=net_vhost0,iface=/a", "--log-level=8"}, "rocetune-1", "0"),
      Not(Contains("--log-level=lib.vhost.*:warning")));
}

TEST(EnvironmentArguments, LeavesWhatWasSaid) {
  const std::vector<std::string> given{"--no-huge", "-m64", "-l1", "--file-prefix", "mine", "--telemetry"};
  std::vector<std::string> expected = given;
  expected.insert(expected.begin(), "rocetune");
  EXPECT_EQ(environment_arguments(given, "rocetune-1", "0"), expected);
}

TEST(IsMemifClient, IsWhatItsArgumentsSay) {
  const std::string_view text =
      "--no-pci --vdev=net_memif0,role=server,id=0 --vdev 'net_memif1,socket=/x' -l 0";
  EXPECT_FALSE(is_memif_client(text, "net_memif0"));
  EXPECT_TRUE(is_memif_client(text, "net_memif1"));
  EXPECT_FALSE(is_memif_client(text, "net_memif2"));
  EXPECT_FALSE(is_memif_client("--vdev=net_ring0", "net_ring0"));
}

TEST(PcapInterfaces, AreThoseOfEveryDirectionAndNoFiles) {
  EXPECT_THAT(pcap_interfaces("net_pcap0,rx_iface_in=a,tx_iface=b"), ElementsAre("a", "b"));
  EXPECT_THAT(pcap_interfaces("iface=eth0"), ElementsAre("eth0"));
  EXPECT_THAT(pcap_interfaces("rx_iface=a,rx_iface=b"), ElementsAre("a", "b"));
  EXPECT_THAT(pcap_interfaces("rx_pcap=iface=x.pcap,tx_pcap=out.pcap"), ElementsAre());
  EXPECT_THAT(pcap_interfaces(""), ElementsAre());
}

TEST(MemifServerSockets, AreThoseInTheFileSystem) {
  const std::vector<std::string> arguments{
      "-l",
      "0",
      "--vdev=net_memif0,role=server,socket=/tmp/a.sock,socket-abstract=no",
      "--vdev=net_memif1,role=server,socket=b,socket-abstract=yes",
      "--vdev=net_memif2,socket=/tmp/c.sock,socket-abstract=no",
      "net_memif3,socket-abstract=no,socket=/tmp/d.sock,role=server"};
  EXPECT_THAT(server_sockets(arguments), ElementsAre("/tmp/a.sock", "/tmp/d.sock"));
}

TEST(ServerSockets, OfVhostAndVirtio) {
  const std::vector<std::string> arguments{"--vdev=net_vhost0,iface=/tmp/a.sock,queues=1",
                                           "--vdev=net_vhost1,iface=/tmp/b.sock,client=1",
                                           "--vdev",
                                           "net_virtio_user0,path=/tmp/c.sock,server=1",
                                           "--vdev=net_virtio_user1,path=/dev/vhost-net",
                                           "--vdev=net_vhost2"};
  EXPECT_THAT(server_sockets(arguments), ElementsAre("/tmp/a.sock", "/tmp/c.sock"));
}

}  // namespace
}  // namespace rocetune::dpdk
