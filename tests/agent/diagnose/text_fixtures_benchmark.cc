// Tables of benchmarks, pings, pairs.
#include "tests/agent/diagnose/text_fixtures.h"

namespace rocetune::diagnose {
namespace {

using List = std::vector<TextFixture>;

// A result of perftest with its addresses.
std::string perftest_text(const std::string& test, const std::string& from, const std::string& to,
                          const std::string& average, const std::string& rate = "0.010000", int qps = 1,
                          const std::string& device = "mlx5_0") {
  return "                    " + test + "\n Dual-port       : OFF\t\tDevice         : " + device +
         "\n Number of qps   : " + std::to_string(qps) +
         "\t\tTransport type : IB\n TX depth        : 128\n Link type       : Ethernet\n local address: LID "
         "0000\n GID: "
         "00:00:00:00:00:00:00:00:00:00:255:255:" +
         from + "\n remote address: LID 0000\n GID: 00:00:00:00:00:00:00:00:00:00:255:255:" + to +
         "\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536      "
         "1000           0.00      " +
         average + "      " + rate + "\n";
}
std::string write_text(const std::string& average) {
  return perftest_text("RDMA_Write BW Test", "10:00:00:01", "10:00:00:02", average);
}

std::string collective_text(const std::string& busbw) {
  return "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: "
         "20\n"
         "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   "
         "algbw   busbw #wrong\n"
         "  1073741824     268435456     float     sum      -1  10000.0   13.10   " +
         busbw + "      0  10000.0   13.10   " + busbw + "      0\n";
}

List path_fixtures() {
  return {
      {"MTU-1",
       "Tests run with an RDMA MTU of 4096",
       Kind::found,
       {from_texts("perftest/mtu1024.txt")},
       "RDMA MTU of 1024"},
      {"MTU-1",
       "Tests run with an RDMA MTU of 4096",
       Kind::found,
       {{"ib.txt",
         "                    Send BW Test\n Mtu             : 2048[B]\n Link type       : Ethernet\n"}},
       "RDMA MTU of 2048"},
      {"MTU-1",
       "Tests run with an RDMA MTU of 4096",
       Kind::found,
       {from_texts("ping/own-interface.txt")},
       "own interface"},
      {"MTU-1", "Tests run with an RDMA MTU of 4096", Kind::passed, {from_texts("perftest/write-gbits.txt")}},
      {"MTU-1",
       "Tests run with an RDMA MTU of 4096",
       Kind::not_checked,
       {{"ib.txt", "                    Send BW Test\n Mtu             : 2048[B]\n Link type       : IB\n"}}},

      {"PATH-1",
       "Full-size packets pass the path",
       Kind::found,
       {from_texts("ping/small-ok.txt"), from_texts("ping/large-lost.txt")},
       "full-size ones vanish"},
      {"PATH-1",
       "Full-size packets pass the path",
       Kind::found,
       {from_texts("ping/hop-tells.txt")},
       "takes only 1500 B"},
      {"PATH-1", "Full-size packets pass the path", Kind::passed, {from_texts("ping/large-ok.txt")}},
      {"PATH-1",
       "Full-size packets pass the path",
       Kind::not_checked,
       {from_texts("ping/own-interface.txt")}},
      {"PATH-1", "Full-size packets pass the path", Kind::not_checked, {from_texts("ping/large-lost.txt")}},

      {"PATH-2",
       "RoCE packets are answered where ping and TCP are",
       Kind::found,
       {from_texts("perftest/status12.txt"), from_texts("ping/small-ok.txt")},
       "UDP 4791"},
      {"PATH-2",
       "RoCE packets are answered where ping and TCP are",
       Kind::found,
       {{"ucx.log",
         "[n1:1:0:1] ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_2:1/RoCE (synd 0x15 vend 0x81 "
         "hw_synd 0/0)\n"
         "[n1:1:0:1] ib_mlx5_log.c:177  RC QP 0x9a1 wqe[0]: SEND --e [rqpn 0x77 sgix 3 dgid ::ffff:10.0.0.2 "
         "tc 106]\n"},
        from_texts("iperf3/parallel.txt")},
       "UDP 4791"},
      {"PATH-2",
       "RoCE packets are answered where ping and TCP are",
       Kind::passed,
       {from_texts("perftest/write-gbits.txt")}},
      {"PATH-2",
       "RoCE packets are answered where ping and TCP are",
       Kind::not_checked,
       {from_texts("ucx-log/first-send-link-local.txt"), from_texts("ping/small-ok.txt")}},

      {"LOSS-1",
       "Senders together get what one gets alone",
       Kind::found,
       {{"alone.txt", perftest_text("RDMA_Write BW Test", "10:00:00:01", "10:00:00:09", "92.10")},
        {"both.s1.txt", perftest_text("RDMA_Write BW Test", "10:00:00:01", "10:00:00:09", "9.10")},
        {"both.s2.txt", perftest_text("RDMA_Write BW Test", "10:00:00:02", "10:00:00:09", "8.80")}},
       "2 senders to one receiver"},
      {"LOSS-1",
       "Senders together get what one gets alone",
       Kind::found,
       {from_texts("traffic-generator/bars.txt")},
       "Flows of one class"},
      {"LOSS-1",
       "Senders together get what one gets alone",
       Kind::passed,
       {{"alone.txt", perftest_text("RDMA_Write BW Test", "10:00:00:01", "10:00:00:09", "92.10")},
        {"both.s1.txt", perftest_text("RDMA_Write BW Test", "10:00:00:01", "10:00:00:09", "46.10")},
        {"both.s2.txt", perftest_text("RDMA_Write BW Test", "10:00:00:02", "10:00:00:09", "45.80")}}},
      {"LOSS-1",
       "Senders together get what one gets alone",
       Kind::not_checked,
       {from_texts("perftest/write-gbits.txt")}},

      {"LOSS-2",
       "Messages do not wait for the RNR timer",
       Kind::found,
       {{"send.txt", perftest_text("Send BW Test", "10:00:00:01", "10:00:00:02", "0.10", "0.000195")}},
       "0.655 s"},
      {"LOSS-2",
       "Messages do not wait for the RNR timer",
       Kind::found,
       {{"send.txt",
         perftest_text("Send Bidirectional BW Test", "10:00:00:01", "10:00:00:02", "0.40", "0.000781", 4)}},
       "0.655 s"},
      {"LOSS-2",
       "Messages do not wait for the RNR timer",
       Kind::passed,
       {from_texts("perftest/send-mb-all-sizes.txt")}},
      {"LOSS-2",
       "Messages do not wait for the RNR timer",
       Kind::not_checked,
       {from_texts("perftest/write-gbits.txt")}},
  };
}

List collective_fixtures() {
  return {
      {"BENCH-1",
       "The test communicated",
       Kind::found,
       {from_texts("nccl-tests/not-mpi.txt")},
       "did not communicate"},
      {"BENCH-1",
       "The test communicated",
       Kind::found,
       {{"t.txt",
         "#  Rank  0 Group  0 Pid 1 on n1 device 0 [0x1b] A\n#  Rank  0 Group  0 Pid 2 on n1 device 1 [0x1c] "
         "A\n"}},
       "built without MPI"},
      {"BENCH-1",
       "The test communicated",
       Kind::passed,
       {{"t.txt",
         "           8             2     float     sum      -1    40.56    0.00    0.00      0    39.06    "
         "0.00    0.00      0\n"}}},
      {"BENCH-1", "The test communicated", Kind::passed, {from_texts("nccl-tests/mpi.txt")}},
      {"BENCH-1", "The test communicated", Kind::not_checked, {{"t.txt", "# Avg bus bandwidth    : 33.3\n"}}},

      {"BENCH-2",
       "Numbers are compared with what they can be compared with",
       Kind::found,
       {from_texts("nccl-tests/mpi.txt")},
       "must not be compared"},
      {"BENCH-2",
       "Numbers are compared with what they can be compared with",
       Kind::found,
       {{"tail.txt", "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 33.3\n"}},
       "must not be compared"},
      {"BENCH-2",
       "Numbers are compared with what they can be compared with",
       Kind::passed,
       {from_texts("perftest/read-mib.txt")}},
      {"BENCH-2",
       "Numbers are compared with what they can be compared with",
       Kind::not_checked,
       {from_texts("nccl-tests/cliff.txt")}},

      {"BENCH-3",
       "Bandwidth does not fall with size",
       Kind::found,
       {from_texts("nccl-tests/cliff.txt")},
       "128 MiB"},
      {"BENCH-3",
       "Bandwidth does not fall with size",
       Kind::found,
       {{"old.txt",
         "     8388608       2097152   float     sum   1000.0    8.39   14.68  2e-07   1001.0    8.38   "
         "14.67  0e+00\n"
         "    16777216       4194304   float     sum   8000.0    2.39    4.18  2e-07   8001.0    2.38    "
         "4.17  0e+00\n"}},
       "16 MiB"},
      {"BENCH-3",
       "Bandwidth does not fall with size",
       Kind::passed,
       {from_texts("nccl-tests/dip-recovers.txt")}},
      {"BENCH-3",
       "Bandwidth does not fall with size",
       Kind::not_checked,
       {from_texts("nccl-tests/not-mpi.txt")}},

      {"HOST-3",
       "The collective reaches what the network can do",
       Kind::found,
       {{"ib.txt", write_text("392.10")}, {"nccl.txt", collective_text("13.10")}},
       "network is not the limit"},
      {"HOST-3",
       "The collective reaches what the network can do",
       Kind::found,
       {{"ib.txt", write_text("39.10")},
        from_texts("iperf3/parallel.txt"),
        {"ibstat.txt",
         "CA 'mlx5_0'\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: "
         "LinkUp\n\t\tRate: 200\n\t\tLink layer: "
         "Ethernet\n"}},
       "below the network"},
      {"HOST-3",
       "The collective reaches what the network can do",
       Kind::passed,
       {{"ib.txt", write_text("392.10")}, {"nccl.txt", collective_text("45.10")}}},
      {"HOST-3",
       "The collective reaches what the network can do",
       Kind::not_checked,
       {{"nccl.txt", collective_text("13.10")}}},
  };
}

List compared_fixtures() {
  return {
      {"NODE-1",
       "No host is slower than the others",
       Kind::found,
       {from_texts("pair-matrix/pairs-one-slow-host.txt")},
       "All slow pairs have node4 in common"},
      {"NODE-1",
       "No host is slower than the others",
       Kind::found,
       {from_texts("pair-matrix/blanks.txt")},
       "All slow pairs have n4"},
      {"NODE-1",
       "No host is slower than the others",
       Kind::found,
       {from_texts("pair-matrix/two-suspects.txt")},
       "n4 and n5"},
      {"NODE-1",
       "No host is slower than the others",
       Kind::passed,
       {from_texts("pair-matrix/arrows-unit.txt")}},
      {"NODE-1",
       "No host is slower than the others",
       Kind::not_checked,
       {from_texts("pair-matrix/bars-timeout.txt")}},

      {"HOST-2",
       "The rate does not depend on socket, core or slot",
       Kind::found,
       {from_texts("pair-matrix/bars-timeout.txt")},
       "pairs with mlx5_0"},
      {"HOST-2",
       "The rate does not depend on socket, core or slot",
       Kind::found,
       {{"ib_write_bw.numa0.txt", write_text("98.10")}, {"ib_write_bw.numa1.txt", write_text("51.10")}},
       "core or memory"},
      {"HOST-2",
       "The rate does not depend on socket, core or slot",
       Kind::found,
       {{"runs.txt", "$ taskset -c 0 ib_write_bw -d mlx5_0 10.0.0.2\n" + write_text("49.00") +
                         "$ ib_write_bw -d mlx5_0 10.0.0.2\n" + write_text("98.00")}},
       "core or memory"},
      {"HOST-2",
       "The rate does not depend on socket, core or slot",
       Kind::found,
       {{"plain.txt", "taskset -c 0 ib_read_bw -d mlx5_0 node2\n" + write_text("49.00") +
                          "ib_read_bw -d mlx5_0 node2\n" + write_text("98.00")}},
       "core or memory"},
      {"HOST-2",
       "The rate does not depend on socket, core or slot",
       Kind::passed,
       {{"ib_write_bw.numa0.txt", write_text("98.10")}, {"ib_write_bw.numa1.txt", write_text("97.10")}}},
      {"HOST-2",
       "The rate does not depend on socket, core or slot",
       Kind::not_checked,
       {from_texts("perftest/write-gbits.txt")}},

      {"LIB-1",
       "Versions of the library give the same result",
       Kind::found,
       {{"good.txt",
         "# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22809\n" + collective_text("23.70")},
        {"dev.txt",
         "# nccl-tests version 2.17.6 nccl-headers=22900 nccl-library=22900\n" + collective_text("3.00")}},
       "another version"},
      {"LIB-1",
       "Versions of the library give the same result",
       Kind::found,
       {{"nccl-tests-2.5.7.txt", collective_text("11.00")},
        {"nccl-tests-2.7.6.txt", collective_text("0.70")}},
       "another version"},
      {"LIB-1",
       "Versions of the library give the same result",
       Kind::passed,
       {{"nccl-tests-2.5.7.txt", collective_text("11.00")},
        {"nccl-tests-2.7.6.txt", collective_text("10.70")}}},
      {"LIB-1",
       "Versions of the library give the same result",
       Kind::not_checked,
       {from_texts("nccl-tests/mpi.txt")}},

      {"LAG-2",
       "There are as many flows as paths",
       Kind::found,
       {{"one.txt",
         perftest_text("RDMA_Write BW Test", "10:00:00:01", "10:00:00:02", "98.00", "0.1", 1, "mlx5_bond_0")},
        {"eight.txt", perftest_text("RDMA_Write BW Test", "10:00:00:01", "10:00:00:02", "195.00", "0.1", 8,
                                    "mlx5_bond_0")}},
       "One queue pair reaches a fraction"},
  };
}

}  // namespace

std::vector<TextFixture> benchmark_text_fixtures() {
  List out;
  for (const auto family : {path_fixtures, collective_fixtures, compared_fixtures}) {
    for (TextFixture& fixture : family()) out.push_back(std::move(fixture));
  }
  return out;
}

}  // namespace rocetune::diagnose
