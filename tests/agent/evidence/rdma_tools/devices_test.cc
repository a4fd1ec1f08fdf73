// ibv_devinfo, show_gids, ibstat, ibstatus, iblinkinfo.
#include "agent/evidence/rdma_tools/iblinkinfo.h"
#include "agent/evidence/rdma_tools/rdma_view.h"
#include "tests/agent/evidence/rdma_tools/rdma_texts.h"

namespace rocetune::evidence {
namespace {

TEST(IbvDevinfo, DevicesPortsAndGidsOfAVerboseListing) {
  const TextReading reading = read_rdma_fixture("ibv-devinfo/verbose.txt");
  ASSERT_EQ(reading.documents.size(), 1u);
  EXPECT_EQ(reading.documents[0].host, "gpu7");
  const auto view = content_of<RdmaView>(reading, "ibv-devinfo");
  ASSERT_EQ(view.ports.size(), 2u);
  const RdmaPortView& port = view.ports[0];
  EXPECT_EQ(port.rdma.device, "mlx5_0");
  EXPECT_EQ(port.rdma.rate, BitRate(400'000'000'000)) << "width times speed of a lane";
  EXPECT_EQ(port.rdma.link_layer, host::LinkLayer::ethernet);
  EXPECT_EQ(port.psid, "MT_0000000838");
  EXPECT_EQ(port.rdma.gids.size(), 4u);
  EXPECT_EQ(port.rdma.gids[3].address, "0000:0000:0000:0000:0000:ffff:c612:0a01") << "short form made long";
  EXPECT_TRUE(port.is_active());
  EXPECT_FALSE(view.ports[1].is_active());
  EXPECT_EQ(fact_of(reading, "gid.rows"), 4);
  EXPECT_EQ(fact_of(reading, "gid.best_index.mlx5_0"), 5) << "two devices: with a name";
  EXPECT_EQ(fact_of(reading, "mtu.active_B"), 4096);
  EXPECT_EQ(reading.report.unread, 1) << "the prompt line only";
}

TEST(IbvDevinfo, InfinibandIsToldByItsLinkLayerAndNotByTheTransport) {
  const auto view = content_of<RdmaView>(read_rdma_fixture("ibv-devinfo/infiniband.crlf.txt"), "ibv-devinfo");
  ASSERT_EQ(view.ports.size(), 1u);
  EXPECT_TRUE(view.ports[0].is_infiniband());
  EXPECT_EQ(view.ports[0].lid, 12u);
  const auto roce = content_of<RdmaView>(read_rdma_fixture("ibv-devinfo/verbose.txt"), "ibv-devinfo");
  EXPECT_FALSE(roce.ports[0].is_infiniband());
}

TEST(IbvDevinfo, GidLinesAloneOfAnOldOne) {
  const TextReading reading = read_rdma_fixture("ibv-devinfo/old-gids-alone.txt");
  EXPECT_EQ(fact_of(reading, "gid.rows"), 4);
  EXPECT_EQ(fact_of(reading, "gid.best_index"), 2) << "types are not published: the lowest IPv4-mapped one";
  EXPECT_FALSE(fact_of(reading, "mtu.active_B"));
}

TEST(IbvDevinfo, PortsOfOneDeviceWithDifferentMtusGiveNoFact) {
  const TextReading reading = read_rdma_fixture("ibv-devinfo/two-ports.txt");
  const auto view = content_of<RdmaView>(reading, "ibv-devinfo");
  ASSERT_EQ(view.ports.size(), 2u);
  EXPECT_EQ(view.ports[1].name(), "mlx4_0/2");
  EXPECT_FALSE(fact_of(reading, "mtu.active_B"));
}

TEST(IbvDevinfo, WhatMakesNoSenseIsLeftOut) {
  const TextReading reading = read_rdma_fixture("ibv-devinfo/bad.txt");
  EXPECT_EQ(fact_of(reading, "gid.rows"), 1);
  EXPECT_FALSE(fact_of(reading, "mtu.active_B"));
}

TEST(ShowGids, SparseTableOfAPod) {
  const TextReading reading = read_rdma_fixture("show-gids/pod.sparse.txt");
  EXPECT_EQ(fact_of(reading, "gid.rows"), 4);
  EXPECT_EQ(fact_of(reading, "gid.best_index"), 7);
  EXPECT_EQ(content_of<RdmaView>(reading, "show-gids").ports[0].netdev(), "net1");
}

TEST(ShowGids, RowsWithoutHeaderWithVersionsInWordsAndUnsorted) {
  const TextReading reading = read_rdma_fixture("show-gids/rows-alone.txt");
  EXPECT_EQ(fact_of(reading, "gid.rows"), 3);
  EXPECT_EQ(fact_of(reading, "gid.best_index"), 3);
  const auto view = content_of<RdmaView>(reading, "show-gids");
  EXPECT_EQ(view.ports[0].rdma.gids[1].type, host::GidType::roce_v1);
  EXPECT_EQ(view.ports[0].netdev(), "eth2") << "a VLAN stands on it";
}

TEST(ShowGids, GlobalIpv6IsTakenWhereThereIsNoIpv4) {
  EXPECT_EQ(fact_of(read_rdma_fixture("show-gids/ipv6-only.txt"), "gid.best_index"), 3);
}

TEST(ShowGids, BadRowsAreNoGids) {
  const TextReading reading = read_rdma_fixture("show-gids/bad.txt");
  EXPECT_FALSE(fact_of(reading, "gid.rows")) << "absent, not zero";
  EXPECT_FALSE(fact_of(reading, "gid.best_index"));
  EXPECT_EQ(reading.report.unread, 5);
}

TEST(Ibstat, APortThatIsDownHasNoRate) {
  const auto view = content_of<RdmaView>(read_rdma_fixture("ibstat/one-down.txt"), "ibstat");
  ASSERT_EQ(view.ports.size(), 2u);
  EXPECT_EQ(view.ports[0].rdma.rate, BitRate(400'000'000'000));
  EXPECT_EQ(view.ports[0].rdma.system_image_guid, "a088:c203:0011:2233");
  EXPECT_FALSE(view.ports[1].rdma.rate) << "40 is a placeholder";
}

TEST(Ibstat, GreppedLines) {
  const auto view = content_of<RdmaView>(read_rdma_fixture("ibstat/grepped.infiniband.txt"), "ibstat");
  ASSERT_EQ(view.ports.size(), 2u);
  EXPECT_TRUE(view.ports[1].is_infiniband());
  EXPECT_EQ(view.ports[1].rdma.device, "mlx5_3");
}

TEST(Ibstatus, TwoPortsAndAFragment) {
  const auto view = content_of<RdmaView>(read_rdma_fixture("ibstatus/two.txt"), "ibstatus");
  ASSERT_EQ(view.ports.size(), 2u);
  EXPECT_EQ(view.ports[0].lid, 0x1fu);
  EXPECT_EQ(view.ports[0].rdma.rate, BitRate(200'000'000'000));
  EXPECT_TRUE(view.ports[0].is_infiniband());
  EXPECT_FALSE(view.ports[1].rdma.rate);
  const auto piece = content_of<RdmaView>(read_rdma_fixture("ibstatus/fragment.txt"), "ibstatus");
  ASSERT_EQ(piece.ports.size(), 1u);
  EXPECT_EQ(piece.ports[0].rdma.rate, BitRate(25'000'000'000));
}

TEST(IblinkInfo, LinksAndWhatTheyCouldBe) {
  const auto links = content_of<FabricLinks>(read_rdma_fixture("iblinkinfo/fabric.txt"), "iblinkinfo");
  EXPECT_EQ(links.active, 2u);
  EXPECT_EQ(links.down, 1u);
  EXPECT_EQ(links.links[0].node, "CA: node1 mlx5_0");
  EXPECT_EQ(links.links[2].could_be, "Could be 25.78125 Gbps");
  const auto line = content_of<FabricLinks>(read_rdma_fixture("iblinkinfo/line.txt"), "iblinkinfo");
  EXPECT_EQ(line.links[0].node, "leaf-r1");
  EXPECT_EQ(line.links[0].far_end, "node01 mlx5_0");
  EXPECT_EQ(line.links[0].could_be, "");
}

TEST(RdmaTools, BadTextsComeToNoHarm) {
  for (const char* name :
       {"ibstat/bad.txt", "ibstatus/bad.txt", "iblinkinfo/bad.txt", "lspci/bad.txt", "dmesg/bad.txt",
        "nvidia-smi-topo/bad.txt", "topology-xml/bad.xml", "mlxlink/bad.txt", "mlxconfig/bad.txt",
        "mlxfwmanager/bad.txt", "fec-histogram/bad.txt"}) {
    const TextReading reading = read_rdma_fixture(name);
    for (const Document& document : reading.documents)
      EXPECT_TRUE(document.facts.empty()) << name << " " << document.facts[0].name;
  }
}

TEST(RdmaTools, ATextThatIsCutAnywhereIsStillRead) {
  const auto text =
      read_file(source_root() + "/tests/fixtures/texts/ibv-devinfo/verbose.txt", Bytes(1 << 20));
  ASSERT_TRUE(text);
  for (std::size_t length = 0; length < text->size(); length += 37) {
    const TextReading reading = read_text(text->substr(0, length), "x.txt", rdma_tool_formats());
    EXPECT_LE(reading.documents.size(), 1u) << length;
  }
}

}  // namespace
}  // namespace rocetune::evidence
