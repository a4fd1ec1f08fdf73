// lspci, the kernel's log, nvidia-smi topo, NCCL's XML.
#include "agent/evidence/rdma_tools/kernel_log.h"
#include "agent/evidence/rdma_tools/lspci.h"
#include "agent/evidence/rdma_tools/nvidia_smi_topo.h"
#include "agent/evidence/rdma_tools/topology_xml.h"
#include "tests/agent/evidence/rdma_tools/rdma_texts.h"

namespace rocetune::evidence {
namespace {

TEST(Lspci, ANicWithAllItsRows) {
  const TextReading reading = read_rdma_fixture("lspci/degraded-nic.txt");
  const auto listing = content_of<PciListing>(reading, "lspci");
  ASSERT_EQ(listing.functions.size(), 1u);
  const PciFunction& nic = listing.functions[0];
  EXPECT_TRUE(nic.is_network);
  EXPECT_EQ(nic.id, "15b3:101b");
  EXPECT_EQ(nic.numa_node, 1);
  EXPECT_EQ(nic.width_lanes, 8);
  EXPECT_EQ(nic.max_width_lanes, 16);
  EXPECT_EQ(nic.relaxed_ordering, false);
  EXPECT_EQ(nic.max_read_request, Bytes(512));
  EXPECT_EQ(nic.driver, "mlx5_core");
  EXPECT_EQ(reading.report.unread, 0);
  EXPECT_EQ(fact_of(reading, "pcie.width"), 8);
  ASSERT_TRUE(reading.documents[0].host_part);
  EXPECT_EQ(reading.documents[0].host_part->ports[0].pci_address, "0000:81:00.0");
}

TEST(Lspci, RedirectIsJudgedByItsThreeFlagsAndNotBySrcValid) {
  const TextReading reading = read_rdma_fixture("lspci/bridges-and-gpu.txt");
  const auto listing = content_of<PciListing>(reading, "lspci");
  ASSERT_EQ(listing.functions.size(), 4u);
  EXPECT_EQ(listing.functions[0].acs_redirects, false);
  EXPECT_EQ(listing.functions[0].acs_validates, true);
  EXPECT_EQ(listing.functions[1].acs_redirects, true);
  EXPECT_TRUE(listing.functions[2].is_gpu);
  EXPECT_EQ(fact_of(reading, "acs.redirect_ports"), 1);
  EXPECT_EQ(fact_of(reading, "pcie.width"), 16) << "of the NIC, where widths differ";
}

TEST(Lspci, AGuestShowsVirtualFunctionsAndEmulatedBridges) {
  const auto listing = content_of<PciListing>(read_rdma_fixture("lspci/guest.txt"), "lspci");
  ASSERT_EQ(listing.functions.size(), 3u);
  EXPECT_TRUE(listing.functions[0].is_emulated);
  EXPECT_TRUE(listing.functions[1].is_virtual_function);
  EXPECT_EQ(listing.functions[1].width_lanes, 0);
  EXPECT_TRUE(listing.functions[1].speed_unknown);
}

TEST(Lspci, ATreeIsRecognised) {
  EXPECT_EQ(read_rdma_fixture("lspci/tree.txt").report.unread, 0);
  content_of<PciListing>(read_rdma_fixture("lspci/tree.txt"), "lspci");
}

TEST(KernelLog, RefusedGidsAlsoWhereMailWrappedTheLines) {
  const TextReading reading = read_rdma_fixture("dmesg/gid-refused.wrapped.txt");
  const auto log = content_of<KernelLog>(reading, "dmesg");
  const KernelEvents& refused = log.of(KernelEvent::gid_refused);
  EXPECT_EQ(refused.count, 3u);
  EXPECT_NE(refused.lines.back().text.find("ad3e:e3ff:fe92:b31b"), std::string::npos);
}

TEST(KernelLog, AFlapIsADownAfterAnUp) {
  const auto flaps = content_of<KernelLog>(read_rdma_fixture("dmesg/flaps.txt"), "dmesg").flaps;
  ASSERT_TRUE(flaps.contains("ens1"));
  EXPECT_EQ(flaps.at("ens1").flaps, 2);
  EXPECT_TRUE(flaps.at("ens1").is_up);
  const TextReading boot = read_rdma_fixture("dmesg/healthy-boot.txt");
  EXPECT_EQ(content_of<KernelLog>(boot, "dmesg").flaps.at("ens1").flaps, 0);
  EXPECT_EQ(fact_of(boot, "pcie.available_Gbps"), 252.048);
  EXPECT_EQ(fact_of(boot, "pcie.capable_Gbps"), 252.048) << "not limited";
}

TEST(KernelLog, FaultsOfTheIommuByAllVendors) {
  const TextReading amd = read_rdma_fixture("dmesg/amd-vi.syslog.txt");
  const auto log = content_of<KernelLog>(amd, "dmesg");
  EXPECT_EQ(amd.documents[0].host, "gpu3");
  ASSERT_EQ(log.of(KernelEvent::iommu_fault).count, 2u);
  EXPECT_EQ(log.of(KernelEvent::iommu_fault).lines[0].device, "0000:41:00.0");
  const auto dmar = content_of<KernelLog>(read_rdma_fixture("dmesg/dmar.txt"), "dmesg");
  ASSERT_EQ(dmar.of(KernelEvent::iommu_fault).count, 2u);
  EXPECT_EQ(dmar.of(KernelEvent::iommu_fault).lines[1].device, "9a:00.0");
  EXPECT_EQ(dmar.of(KernelEvent::iommu_fault).lines[0].time_s, 5000.25);
}

TEST(KernelLog, ErrorCompletionsAreDecoded) {
  const TextReading reading = read_rdma_fixture("dmesg/cqe.txt");
  EXPECT_EQ(fact_of(reading, "cqe.syndrome"), 4);
  EXPECT_EQ(fact_of(reading, "cqe.vendor_syndrome"), 0x51);
  EXPECT_EQ(fact_of(reading, "cqe.qpn"), 0x12f);
}

TEST(KernelLog, HypervisorIommuModeAndModules) {
  const auto guest = content_of<KernelLog>(read_rdma_fixture("dmesg/guest.txt"), "dmesg");
  EXPECT_EQ(guest.hypervisor, "KVM");
  EXPECT_EQ(guest.iommu, "translating");
  const auto peermem = content_of<KernelLog>(read_rdma_fixture("dmesg/peermem.txt"), "dmesg");
  EXPECT_EQ(peermem.of(KernelEvent::peer_memory).count, 2u);
}

TEST(KernelLog, OtherProgramsLogsAreNotTaken) {
  const TextReading reading = read_rdma_fixture("dmesg/bad.txt");
  ASSERT_EQ(reading.documents.size(), 1u);
  EXPECT_EQ(reading.documents[0].first_line, 4) << "UCX stamps with the epoch, NCCL not at all";
}

TEST(NvidiaSmiTopo, UnderlinedHeaderAndLegend) {
  const auto matrix =
      content_of<TopologyMatrix>(read_rdma_fixture("nvidia-smi-topo/near.txt"), "nvidia-smi-topo");
  EXPECT_EQ(matrix.columns, (std::vector<std::string>{"GPU0", "GPU1", "NIC0", "NIC1"}));
  EXPECT_EQ(matrix.how.at("GPU1").at("NIC1"), "PXB");
  EXPECT_EQ(matrix.name_of("NIC1"), "mlx5_1");
  EXPECT_EQ(matrix.numa_of.at("GPU1"), "1");
}

TEST(NvidiaSmiTopo, CodesThatLostTheirEscape) {
  const auto matrix = content_of<TopologyMatrix>(read_rdma_fixture("nvidia-smi-topo/one-far.lost-codes.txt"),
                                                 "nvidia-smi-topo");
  EXPECT_EQ(matrix.how.at("GPU0").at("mlx5_0"), "SYS");
  EXPECT_EQ(matrix.how.at("GPU1").at("mlx5_0"), "PHB");
}

TEST(TopologyXml, WholePieceAndGraph) {
  const auto whole = content_of<Topology>(read_rdma_fixture("topology-xml/bare-metal.xml"), "topology-xml");
  ASSERT_EQ(whole.pcis.size(), 3u);
  EXPECT_TRUE(whole.pcis[0].is_bridge());
  ASSERT_EQ(whole.nets.size(), 1u);
  EXPECT_EQ(whole.nets[0].bus_id, "0000:18:00.0");
  EXPECT_EQ(whole.nets[0].gdr, true);
  EXPECT_EQ(whole.gpus[0].bus_id, "0000:19:00.0");
  const auto piece = content_of<Topology>(read_rdma_fixture("topology-xml/cut.guest.xml"), "topology-xml");
  EXPECT_EQ(piece.pcis[0].link_width, 0);
  EXPECT_EQ(piece.nets[0].gdr, false);
  const auto graph = content_of<Topology>(read_rdma_fixture("topology-xml/graph.xml"), "topology-xml");
  ASSERT_EQ(graph.graphs.size(), 1u);
  EXPECT_EQ(graph.graphs[0].nets, (std::vector<int>{0, 0}));
}

}  // namespace
}  // namespace rocetune::evidence
