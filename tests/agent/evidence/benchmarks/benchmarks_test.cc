// Tables of benchmarks, of all ages and units.
#include <gtest/gtest.h>

#include "agent/evidence/benchmarks/formats.h"
#include "agent/evidence/benchmarks/iperf.h"
#include "agent/evidence/benchmarks/nccl_tests.h"
#include "agent/evidence/benchmarks/pair_matrix.h"
#include "agent/evidence/benchmarks/perftest.h"
#include "agent/evidence/benchmarks/ping.h"
#include "agent/evidence/benchmarks/size_table.h"
#include "agent/evidence/benchmarks/traffic_generator.h"
#include "tests/agent/evidence/fixture_texts.h"

namespace rocetune::evidence {
namespace {

template <class Content>
Content content_of(const std::string& name) {
  const TextReading reading = read_fixture(name, benchmark_formats());
  const std::string format = name.substr(0, name.find('/'));
  const Document* document = only(reading, format);
  const Content* content = document == nullptr ? nullptr : document->as<Content>();
  EXPECT_NE(content, nullptr) << name;
  return content == nullptr ? Content() : *content;
}

TEST(NcclTests, FactsOfEveryAge) {
  for (const ExpectedFacts& expected : std::initializer_list<ExpectedFacts>{
           {"nccl-tests/mpi.txt",
            "nccl-tests",
            {{"bench.rows", 3},
             {"bench.busbw_max_GBps", 44.74},
             {"bench.algbw_max_GBps", 44.74},
             {"bench.busbw_avg_GBps", 32.1},
             {"bench.runs", 1},
             {"bench.ranks", 2},
             {"bench.hosts", 2}}},
           {"nccl-tests/old-error-column.txt",
            "nccl-tests",
            {{"bench.rows", 2}, {"bench.busbw_max_GBps", 15.05}, {"bench.algbw_max_GBps", 8.6}}},
           {"nccl-tests/broadcast-old-root.txt",
            "nccl-tests",
            {{"bench.rows", 1}, {"bench.busbw_max_GBps", 20.97}, {"bench.algbw_max_GBps", 20.97}}},
           {"nccl-tests/per-iteration-timestamp.txt",
            "nccl-tests",
            {{"bench.rows", 1}, {"bench.busbw_max_GBps", 29.36}, {"bench.algbw_max_GBps", 33.55}}},
           {"nccl-tests/tags-inside.txt",
            "nccl-tests",
            {{"bench.rows", 1},
             {"bench.busbw_max_GBps", 16.31},
             {"bench.algbw_max_GBps", 8.51},
             {"bench.busbw_avg_GBps", 16.25},
             {"bench.runs", 1}}},
           {"nccl-tests/not-mpi.txt",
            "nccl-tests",
            {{"bench.rows", 2},
             {"bench.busbw_max_GBps", 0},
             {"bench.algbw_max_GBps", 428400},
             {"bench.runs", 2},
             {"bench.ranks", 2},
             {"bench.hosts", 2}}},
           {"nccl-tests/cliff.txt",
            "nccl-tests",
            {{"bench.rows", 4},
             {"bench.busbw_max_GBps", 29.5},
             {"bench.algbw_max_GBps", 15.39},
             {"bench.cliff_bytes", 134217728}}},
           {"nccl-tests/report.json",
            "nccl-tests",
            {{"bench.rows", 1},
             {"bench.busbw_max_GBps", 20.97},
             {"bench.algbw_max_GBps", 20.97},
             {"bench.busbw_avg_GBps", 20.945},
             {"bench.runs", 1},
             {"bench.ranks", 2},
             {"bench.hosts", 2}}},
           {"nccl-tests/cut-row.txt", "nccl-tests", {}},
       }) {
    expect_facts(expected, benchmark_formats());
  }
}

TEST(NcclTests, WhatTheBannerSays) {
  const NcclTests tests = content_of<NcclTests>("nccl-tests/per-iteration-timestamp.txt");
  EXPECT_EQ(tests.collective, "all_gather");
  EXPECT_EQ(tests.library_version, 23003);
}

TEST(Perftest, FactsInBothUnits) {
  const double mib = 8.0 * 1024 * 1024 / 1e9;
  for (const ExpectedFacts& expected : std::initializer_list<ExpectedFacts>{
           {"perftest/write-gbits.txt",
            "perftest",
            {{"perftest.bw_avg_Gbps", 98.02},
             {"perftest.bw_avg_MiBps", 98.02 / mib},
             {"perftest.msgrate_Mpps", 0.186958},
             {"perftest.mtu_B", 4096},
             {"perftest.qps", 1}}},
           {"perftest/latency-head-only.txt",
            "perftest",
            {{"perftest.lat_typical_us", 1.68}, {"perftest.lat_p99_us", 1.93}}},
           {"perftest/failed-status.txt", "perftest", {{"wc.status", 12}, {"wc.vendor_err", 129}}},
           {"perftest/read-mib.txt",
            "perftest",
            {{"perftest.bw_avg_Gbps", 11792.73 * mib},
             {"perftest.bw_avg_MiBps", 11792.73},
             {"perftest.msgrate_Mpps", 0.188684},
             {"perftest.mtu_B", 4096},
             {"perftest.qps", 1}}},
           {"perftest/send-mb-all-sizes.txt",
            "perftest",
            {{"perftest.bw_avg_Gbps", 11690 * mib},
             {"perftest.bw_avg_MiBps", 11690},
             {"perftest.msgrate_Mpps", 0.01169},
             {"perftest.mtu_B", 4096},
             {"perftest.qps", 1}}},
           {"perftest/latency.txt",
            "perftest",
            {{"perftest.lat_typical_us", 1.87},
             {"perftest.lat_p99_us", 2.05},
             {"perftest.mtu_B", 4096},
             {"perftest.qps", 1}}},
           {"perftest/latency-duration.txt", "perftest", {{"perftest.mtu_B", 4096}, {"perftest.qps", 1}}},
           {"perftest/qos.txt",
            "perftest",
            {{"perftest.bw_avg_Gbps", 47.02},
             {"perftest.bw_avg_MiBps", 47.02 / mib},
             {"perftest.msgrate_Mpps", 0.089684},
             {"perftest.mtu_B", 4096},
             {"perftest.qps", 1}}},
           {"perftest/error-behind-row.txt",
            "perftest",
            {{"perftest.bw_avg_Gbps", 2.31},
             {"perftest.bw_avg_MiBps", 2.31 / mib},
             {"perftest.msgrate_Mpps", 0.004406},
             {"perftest.mtu_B", 4096},
             {"perftest.qps", 1}}},
           // The unit is not said: rate times size tells that it is MiB/s.
           {"perftest/report.json",
            "perftest",
            {{"perftest.bw_avg_Gbps", 11700 * mib},
             {"perftest.bw_avg_MiBps", 11700},
             {"perftest.msgrate_Mpps", 0.1872},
             {"perftest.mtu_B", 4096},
             {"perftest.qps", 4}}},
           {"perftest/no-rows.txt", "perftest", {}},
       }) {
    expect_facts(expected, benchmark_formats());
  }
}

TEST(Perftest, BannerAndErrors) {
  const PerftestRun run = content_of<Perftest>("perftest/write-gbits.txt").runs.at(0);
  EXPECT_EQ(run.test, "RDMA_Write BW");
  EXPECT_EQ(run.device, "mlx5_0");
  EXPECT_TRUE(run.is_ethernet());
  EXPECT_EQ(run.gid_index, 3);
  EXPECT_EQ(run.tx_depth, 128);
  ASSERT_EQ(run.local.size(), 1u);
  EXPECT_EQ(run.local[0].text(), "10.0.0.1");
  EXPECT_TRUE(content_of<Perftest>("perftest/unlike-gids.txt").runs.at(0).local.at(0).is_link_local());
  EXPECT_TRUE(content_of<Perftest>("perftest/gid-types.txt").runs.at(0).gid_types_differ);
  EXPECT_EQ(content_of<Perftest>("perftest/modify-qp.txt").signs.qp_setups.total, 1u);
  EXPECT_EQ(content_of<Perftest>("perftest/error-behind-row.txt").runs.at(0).errors.size(), 1u);
  EXPECT_EQ(content_of<Perftest>("perftest/tcp-control.txt").signs.tcp_control.total, 1u);
  const FailedCompletion failed = content_of<Perftest>("perftest/status12.txt").signs.completions.first.at(0);
  EXPECT_EQ(failed.status, 12);
  EXPECT_EQ(failed.vendor, 0x81);
  EXPECT_TRUE(failed.is_first_request);
}

TEST(Perftest, SeveralRunsInOneFileAreOneDocument) {
  std::string text =
      *read_file(source_root() + "/tests/fixtures/texts/perftest/write-gbits.txt", Bytes(1 << 20));
  text += *read_file(source_root() + "/tests/fixtures/texts/perftest/latency.txt", Bytes(1 << 20));
  const TextReading reading = read_text(text, "both.txt", benchmark_formats());
  const Perftest& perftest = *only(reading, "perftest")->as<Perftest>();
  ASSERT_EQ(perftest.runs.size(), 2u);
  EXPECT_EQ(perftest.runs[1].test, "RDMA_Write Latency");
  EXPECT_EQ(reading.report.unread, 0);
}

TEST(SizeTables, OneUnitForAll) {
  EXPECT_NEAR(*content_of<SizeTable>("osu/bandwidth.txt").best_gbps(), 12210.55 * 8e-3, 1e-6);
  EXPECT_NEAR(*content_of<SizeTable>("imb/pingpong.txt").best_gbps(), 12147 * 8e-3, 1e-6);
  EXPECT_NEAR(*content_of<SizeTable>("ucx-perftest/tag-bandwidth.txt").best_gbps(),
              11758.72 * 8 * 1024 * 1024 / 1e9, 1e-6);
  EXPECT_NEAR(*content_of<SizeTable>("ucx-perftest/older.txt").best_gbps(), 4.50 * 8 * 1024 * 1024 / 1e9,
              1e-9);
  EXPECT_FALSE(content_of<SizeTable>("osu/latency-cuda.txt").best_gbps());
  EXPECT_EQ(content_of<SizeTable>("imb/allreduce.txt").quantity, SizeTable::Quantity::latency);
}

TEST(SizeTables, AReportThatIsCutOffInItsLastLineIsReadSoFar) {
  std::string text =
      *read_file(source_root() + "/tests/fixtures/texts/ucx-perftest/tag-bandwidth.txt", Bytes(1 << 20));
  text.resize(text.rfind("Final:") + std::string("Final:").size());
  const TextReading reading = read_text(text, "cut.txt", benchmark_formats());
  EXPECT_NEAR(*only(reading, "ucx-perftest")->as<SizeTable>()->best_gbps(), 11764.72 * 8 * 1024 * 1024 / 1e9,
              1e-6);
}

TEST(PairMatrix, Facts) {
  for (const ExpectedFacts& expected : std::initializer_list<ExpectedFacts>{
           {"pair-matrix/pairs-one-slow-host.txt",
            "pair-matrix",
            {{"pairs.count", 6}, {"pairs.slow_over_fast", 48.9 / 96.8}}},
           {"pair-matrix/arrows-unit.txt",
            "pair-matrix",
            {{"pairs.count", 3}, {"pairs.slow_over_fast", (186.9 + 187.2) / 2 / 188.0}}},
           {"pair-matrix/bars-timeout.txt",
            "pair-matrix",
            {{"pairs.count", 4}, {"pairs.slow_over_fast", (6020.5 + 6100.0) / 2 / 12040.1}}},
           {"pair-matrix/two-suspects.txt",
            "pair-matrix",
            {{"pairs.count", 4}, {"pairs.slow_over_fast", 61.0 / 180.1}}},
       }) {
    expect_facts(expected, benchmark_formats());
  }
  EXPECT_EQ(content_of<PairMatrix>("pair-matrix/blanks.txt").tables.at(0).pairs.size(), 12u);
  EXPECT_TRUE(read_fixture("pair-matrix/prose.txt", benchmark_formats()).documents.empty());
}

TEST(Iperf, SumsOfStreams) {
  const Iperf parallel = content_of<Iperf>("iperf3/parallel.txt");
  EXPECT_DOUBLE_EQ(*parallel.received_gbps, 39.4);
  EXPECT_EQ(parallel.retransmits, 15u);
  EXPECT_DOUBLE_EQ(*content_of<Iperf>("iperf3/iperf2.txt").rate_gbps(), 9.36);
  EXPECT_DOUBLE_EQ(*content_of<Iperf>("iperf3/report.json").rate_gbps(), 9.40);
  EXPECT_TRUE(content_of<Iperf>("iperf3/refused.txt").failed);
}

TEST(Ping, WhatComesBack) {
  EXPECT_EQ(content_of<Ping>("ping/small-ok.txt").runs.at(0).passes(), true);
  EXPECT_EQ(content_of<Ping>("ping/large-lost.txt").runs.at(0).passes(), false);
  EXPECT_EQ(content_of<Ping>("ping/large-lost.txt").runs.at(0).payload_bytes, 8972);
  const PingRun hop = content_of<Ping>("ping/hop-tells.txt").runs.at(0);
  EXPECT_EQ(hop.hop_mtu_bytes, 1500);
  EXPECT_EQ(hop.hop, "10.7.0.1");
  EXPECT_EQ(content_of<Ping>("ping/own-interface.txt").runs.at(0).local_mtu_bytes, 1500);
  EXPECT_TRUE(content_of<Ping>("ping/large-ok.txt").runs.at(0).is_unfragmented);
}

TEST(TrafficGenerator, ThreeLayouts) {
  expect_facts({"traffic-generator/bars.txt", "traffic-generator", {{"generator.sequence_errors", 44210}}},
               benchmark_formats());
  expect_facts({"traffic-generator/clean.csv", "traffic-generator", {{"generator.sequence_errors", 0}}},
               benchmark_formats());
  expect_facts({"traffic-generator/blanks.txt", "traffic-generator", {{"generator.sequence_errors", 7}}},
               benchmark_formats());
  const GeneratedFlow flow = content_of<TrafficGenerator>("traffic-generator/bars.txt").flows.at(1);
  EXPECT_EQ(flow.name, "Flow B");
  EXPECT_EQ(flow.dscp, 26);
  EXPECT_EQ(flow.receiver, "Port 0");
}

}  // namespace
}  // namespace rocetune::evidence
