#include "agent/tune/host_plant/metric.h"

#include <gmock/gmock.h>

#include "dataplane/base/reflect_json.h"
#include "dataplane/transport/pattern/result.h"
#include "dataplane/transport/perftest/session.h"

namespace rocetune::tune {
namespace {

using testing::HasSubstr;

Metric metric(const std::string& text) {
  auto parsed = Metric::parse(text);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().text());
  return *parsed;
}
double value_of(const std::string& text, const std::string& output) {
  const auto value = metric(text).read(output);
  EXPECT_TRUE(value) << text;
  return value.value_or(-1);
}
std::string refusal_of(const std::string& text) {
  const auto parsed = Metric::parse(text);
  EXPECT_FALSE(parsed) << text;
  return parsed ? "" : parsed.error().text();
}

template <class Result>
std::string json_text(const Result& result) {
  JsonWriter out;
  to_json(out, result);
  return out.take();
}

constexpr const char* kNcclTests =
    R"(# nThread 1 nGpus 1 minBytes 8388608 maxBytes 16777216 step: 2(factor) warmup iters: 5 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid   1234 on   node-a device  0 [0x1b] NVIDIA H100
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     8388608       2097152     float     sum      -1    250.1   33.54   62.89      0    249.0   33.69   63.17      0
    16777216       4194304     float     sum      -1    400.2   41.92   78.60      0    399.1   42.04   78.82      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 70.87
)";

constexpr const char* kWriteBw =
    R"(---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF		Device         : mlx5_0
 Number of qps   : 1		Transport type : IB
 Connection type : RC		Using SRQ      : OFF
 Mtu             : 4096[B]
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      5000             92.50              91.25                0.174046
---------------------------------------------------------------------------------------
)";

constexpr const char* kWriteLat =
    R"(---------------------------------------------------------------------------------------
                    RDMA_Write Latency Test
 Dual-port       : OFF		Device         : mlx5_0
 Mtu             : 4096[B]
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 #bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec] 99% percentile[usec]
 2       1000          1.73           9.35         1.80     	       1.82        	0.15   		2.05
---------------------------------------------------------------------------------------
)";

constexpr const char* kOsu = R"(# OSU MPI Bandwidth Test v7.3
# Size      Bandwidth (MB/s)
1                       5.00
4194304             12000.00
)";
constexpr const char* kOsuLatency = R"(# OSU MPI Latency Test v7.3
# Size          Latency (us)
1                       1.25
2                       1.30
)";

TEST(Metric, NcclTests) {
  EXPECT_DOUBLE_EQ(value_of("busbw=nccl-tests", kNcclTests), 78.82 * 8);
  EXPECT_DOUBLE_EQ(value_of("goodput=nccl-tests", kNcclTests), 42.04 * 8);
  EXPECT_DOUBLE_EQ(value_of("busbw=nccl-tests-avg", kNcclTests), 70.87 * 8);
}

TEST(Metric, Perftest) {
  EXPECT_DOUBLE_EQ(value_of("goodput=perftest", kWriteBw), 91.25);
  EXPECT_DOUBLE_EQ(value_of("latency=perftest", kWriteLat), 1.80);
  EXPECT_DOUBLE_EQ(value_of("p99_fct=perftest", kWriteLat), 2.05);
}

TEST(Metric, Osu) {
  EXPECT_DOUBLE_EQ(value_of("goodput=osu", kOsu), 96);
  EXPECT_DOUBLE_EQ(value_of("latency=osu", kOsuLatency), 1.25);
  EXPECT_FALSE(metric("latency=osu").read(kOsu));
}

pattern::Result bench_result() {
  pattern::Result out;
  for (const double gbps : {5.0, 25.0, 20.0}) {
    pattern::Row row;
    row.goodput_bits_per_s = gbps * 1e9;
    row.busbw_bits_per_s = gbps * 1e9;
    row.content_is_right = true;
    out.rows.push_back(row);
  }
  return out;
}

// Of the types that it is written from.
TEST(Metric, OurBench) {
  pattern::Result result = bench_result();
  const std::string rates = "rocetune: waiting\n" + json_text(result) + "\n";
  EXPECT_DOUBLE_EQ(value_of("goodput=bench", rates), 25);
  EXPECT_DOUBLE_EQ(value_of("busbw=bench", rates), 25);
  EXPECT_FALSE(metric("latency=bench").read(rates));
  for (std::size_t i = 1; i < 3; ++i) {
    result.rows[i].latency.emplace();
    result.rows[i].latency->p50_ns = 1800 * i;
    result.rows[i].latency->p99_ns = 9000 * i;
  }
  EXPECT_DOUBLE_EQ(value_of("latency=bench", json_text(result)), 1.8) << "of the smallest that has one";
  EXPECT_DOUBLE_EQ(value_of("p99_fct=bench", json_text(result)), 9);
  result.rows[2].content_is_right = false;
  EXPECT_FALSE(metric("goodput=bench").read(json_text(result)));
  EXPECT_FALSE(metric("goodput=bench").read(R"({"rows": 3})"));
  EXPECT_FALSE(metric("goodput=bench").read("{}"));
}

TEST(Metric, OurBenchBesidePerftest) {
  perftest::Result result;
  result.goodput_bits_per_s = 91e9;
  EXPECT_DOUBLE_EQ(value_of("goodput=bench", json_text(result)), 91);
  EXPECT_FALSE(metric("busbw=bench").read(json_text(result)));
  EXPECT_FALSE(metric("latency=bench").read(json_text(result)));
  result.latency.emplace();
  result.latency->p50_ns = 1500;
  EXPECT_DOUBLE_EQ(value_of("latency=bench", json_text(result)), 1.5);
}

TEST(Metric, JsonByItsPathAndTheUnitOfItsKey) {
  const std::string output =
      R"({"rows": [{"goodput_bits_per_s": 5e9}, {"goodput_bits_per_s": 25e9, "p99_us": 12}]})";
  EXPECT_DOUBLE_EQ(value_of("goodput=json:rows.1.goodput_bits_per_s", output), 25);
  EXPECT_DOUBLE_EQ(value_of("p99_fct=json:rows.1.p99_us", output), 12);
  EXPECT_FALSE(metric("goodput=json:rows.2.goodput_bits_per_s").read(output));
  EXPECT_FALSE(metric("goodput=json:rows.x").read(output));
  EXPECT_FALSE(metric("goodput=json:rows").read(output)) << "no number";
}

TEST(Metric, JsonBehindOtherLines) {
  EXPECT_DOUBLE_EQ(value_of("latency=json:t_ms", "starting\n{\"t_ms\": 9}\n{\"t_ms\": 2}\n"), 2000);
  EXPECT_FALSE(metric("latency=json:t_ms").read("no JSON at all"));
}

TEST(Metric, TheLastMatchOfAnExpression) {
  const std::string output = "step 1 busbw 10.5 GB/s\nstep 2 busbw 12.25 GB/s\nbye\n";
  EXPECT_DOUBLE_EQ(value_of("busbw=re:GB/s:busbw ([0-9.]+)", output), 98);
  EXPECT_DOUBLE_EQ(value_of("fairness=re:ratio:j=([0-9.]+)", "j=0.93"), 0.93);
  EXPECT_DOUBLE_EQ(value_of("p99_fct=re:ms:p99: ([0-9]+)", "p99: 3\n"), 3000);
  EXPECT_FALSE(metric("busbw=re:GB/s:busbw ([0-9.]+)").read("busbw none"));
  EXPECT_FALSE(metric("busbw=re:GB/s:(busbw)").read("busbw")) << "a group that is no number";
}

TEST(Metric, OtherOutputHasNoNumber) {
  for (const char* text : {"busbw=nccl-tests", "busbw=nccl-tests-avg", "goodput=perftest", "latency=perftest",
                           "goodput=osu", "goodput=imb", "goodput=ucx-perftest", "goodput=iperf3"}) {
    EXPECT_FALSE(metric(text).read("")) << text;
    EXPECT_FALSE(metric(text).read("Segmentation fault\n")) << text;
  }
}

TEST(Metric, BadOnesSayWhatIsAllowed) {
  EXPECT_THAT(refusal_of("nccl-tests"), HasSubstr("OBJECTIVE=SOURCE"));
  EXPECT_THAT(refusal_of("buswb=nccl-tests"), HasSubstr("did you mean busbw?"));
  EXPECT_THAT(refusal_of("busbw=nccl-test"), HasSubstr("did you mean nccl-tests?"));
  EXPECT_THAT(refusal_of("latency=nccl-tests"), HasSubstr("latency is none of them"));
  EXPECT_THAT(refusal_of("fairness=bench"), HasSubstr("fairness is none of them"));
  EXPECT_THAT(refusal_of("busbw=nccl-tests:x"), HasSubstr("without anything behind it"));
  EXPECT_THAT(refusal_of("busbw=json:"), HasSubstr("json:PATH"));
  EXPECT_THAT(refusal_of("busbw=re:us:([0-9])"), HasSubstr("Gb/s, Mb/s"));
  EXPECT_THAT(refusal_of("latency=re:GB/s:([0-9])"), HasSubstr("ns, us, ms or s"));
  EXPECT_THAT(refusal_of("fairness=re:us:([0-9])"), HasSubstr("re:ratio:REGEX"));
  EXPECT_THAT(refusal_of("busbw=re:GB/s:[0-9"), HasSubstr("a regular expression"));
  EXPECT_THAT(refusal_of("busbw=re:GB/s:[0-9]"), HasSubstr("group"));
  EXPECT_THAT(refusal_of("busbw=re:GB/s"), HasSubstr("re:UNIT:REGEX"));
}

}  // namespace
}  // namespace rocetune::tune
