// Logs, environments and command lines, in the wordings of all ages.
#include <gtest/gtest.h>

#include "agent/evidence/logs/app_log.h"
#include "agent/evidence/logs/command_lines.h"
#include "agent/evidence/logs/environment.h"
#include "agent/evidence/logs/formats.h"
#include "agent/evidence/logs/nccl_log.h"
#include "agent/evidence/logs/ucx_log.h"
#include "tests/agent/evidence/fixture_texts.h"

namespace rocetune::evidence {
namespace {

// What a fixture holds; empty, with a failure, if it was not read.
template <class Content>
Content content_of(const std::string& name, std::string_view format) {
  const TextReading reading = read_fixture(name, log_formats());
  const Document* document = only(reading, format);
  const Content* content = document == nullptr ? nullptr : document->as<Content>();
  EXPECT_NE(content, nullptr) << name;
  return content == nullptr ? Content() : *content;
}
NcclLog nccl(const std::string& name) { return content_of<NcclLog>("nccl-log/" + name, "nccl-log"); }
AppLog app(const std::string& name) { return content_of<AppLog>("app-log/" + name, "app-log"); }
UcxLog ucx(const std::string& name) { return content_of<UcxLog>("ucx-log/" + name, "ucx-log"); }

TEST(NcclLog, FactsOfEveryAge) {
  for (const ExpectedFacts& expected : std::initializer_list<ExpectedFacts>{
           {"nccl-log/completion-2.4.txt", "nccl-log", {{"wc.status", 12}, {"wc.vendor_err", 129}}},
           {"nccl-log/completion-2.18-peer.txt", "nccl-log", {{"wc.status", 4}, {"wc.vendor_err", 81}}},
           {"nccl-log/completion-2.22-touching.txt", "nccl-log", {{"wc.status", 12}, {"wc.vendor_err", 129}}},
           {"nccl-log/completion-head-names.txt", "nccl-log", {{"wc.status", 4}, {"wc.vendor_err", 81}}},
           {"nccl-log/bnxt-status12-vendor10.txt", "nccl-log", {{"wc.status", 12}, {"wc.vendor_err", 10}}},
           {"nccl-log/flushed-after-error.txt", "nccl-log", {{"wc.status", 10}, {"wc.vendor_err", 136}}},
           {"nccl-log/cqe-dump.txt",
            "nccl-log",
            {{"wc.status", 12},
             {"wc.vendor_err", 129},
             {"cqe.syndrome", 0x15},
             {"cqe.vendor_syndrome", 0x81},
             {"cqe.qpn", 0x1f03}}},
           {"nccl-log/channels-one-host-without-gdr.txt",
            "nccl-log",
            {{"nccl.gdr_channels", 2}, {"nccl.nongdr_channels", 2}}},
           {"nccl-log/channels-grepped.txt",
            "nccl-log",
            {{"nccl.gdr_channels", 0}, {"nccl.nongdr_channels", 2}}},
           {"nccl-log/gdr-disabled.txt", "nccl-log", {{"nccl.gdr_disabled_hcas", 2}}},
           {"nccl-log/channels-with-gdr.txt",
            "nccl-log",
            {{"nccl.gdr_channels", 2},
             {"nccl.nongdr_channels", 0},
             {"map.traffic_class", 106},
             {"map.dscp", 26}}},
           {"nccl-log/socket-two-hosts.txt", "nccl-log", {}},
           {"nccl-log/bad-cut.txt", "nccl-log", {}},
       }) {
    expect_facts(expected, log_formats());
  }
}

TEST(NcclLog, GidsMayTouchTheirKeys) {
  const FailedCompletion failed = nccl("completion-2.22-touching.txt").signs.completions.first.at(0);
  ASSERT_TRUE(failed.local && failed.remote);
  EXPECT_TRUE(failed.local->is_link_local());
  EXPECT_EQ(failed.remote->text(), "fe80::a288:c2ff:fe11:4455");
  EXPECT_EQ(failed.device, "mlx5_4");
  EXPECT_EQ(failed.quote.host, "gpu5");
}

TEST(NcclLog, ThePeerAddressIsNoGid) {
  const NcclLog log = nccl("completion-2.18-peer.txt");
  EXPECT_EQ(log.signs.completions.first.at(0).local->kind(), GidText::Kind::ipv4);
  EXPECT_EQ(log.hosts, std::vector<std::string>{"gpu4"});
}

TEST(NcclLog, WhySetUpFailed) {
  const FailedQpSetup unreachable = nccl("modify-qp-new.txt").signs.qp_setups.first.at(0);
  EXPECT_EQ(unreachable.error, 101);
  EXPECT_EQ(unreachable.device, "roce2");
  EXPECT_EQ(unreachable.gid_index, 2);
  EXPECT_EQ(unreachable.local->kind(), GidText::Kind::other);
  EXPECT_EQ(unreachable.remote->text(), "10.4.0.2");
  EXPECT_EQ(nccl("modify-qp-errno.txt").signs.qp_setups.first.at(0).error, 19);
  const FailedQpSetup lines = nccl("modify-qp-two-lines.txt").signs.qp_setups.first.at(0);
  EXPECT_EQ(lines.error, 22);
  EXPECT_EQ(lines.device, "rocep1s0f0");
  ASSERT_TRUE(lines.local);
  EXPECT_TRUE(lines.local->is_link_local());
}

TEST(NcclLog, DevicesChannelsAndSettings) {
  const NcclLog log = nccl("channels-with-gdr.txt");
  ASSERT_EQ(log.devices.size(), 2u);
  EXPECT_EQ(log.devices[0].names, (std::vector<std::string>{"mlx5_0", "mlx5_1", "mlx5_2"}));
  EXPECT_TRUE(log.devices[0].is_roce);
  EXPECT_EQ(log.ranks, 16);
  EXPECT_EQ(log.versions.first.at(0).text, "2.27.3+cuda12.9");
  ASSERT_EQ(log.settings.size(), 2u);
  EXPECT_EQ(log.settings[0].name, "NCCL_IB_GID_INDEX");
  EXPECT_EQ(log.settings[0].value, "3");
  ASSERT_EQ(log.channels.size(), 2u);
  EXPECT_EQ(log.channels[0].gdr_send, 1u);
  EXPECT_EQ(log.channels[1].gdr_receive, 1u);
}

TEST(NcclLog, NodesAndSockets) {
  EXPECT_EQ(nccl("one-node-socket.txt").nodes, 1);
  const NcclLog log = nccl("socket-two-hosts.txt");
  EXPECT_EQ(log.signs.no_rdma.total, 1u);
  EXPECT_EQ(log.channels.at(0).socket, 1u);
  EXPECT_EQ(nccl("no-device.txt").no_ib_device.total, 1u);
}

TEST(NcclLog, EceAndTheRawGid) {
  const NcclLog log = nccl("ece-link-local.txt");
  ASSERT_TRUE(log.ece);
  EXPECT_EQ(log.ece->options, 0x30000002u);
  ASSERT_EQ(log.signs.gids.total, 1u);
  EXPECT_TRUE(log.signs.gids.first[0].gid.is_link_local());
}

TEST(NcclLog, CutLinesGiveNothing) {
  const NcclLog log = nccl("bad-cut.txt");
  EXPECT_TRUE(log.signs.completions.empty());
  EXPECT_TRUE(log.signs.qp_setups.empty());
}

TEST(NcclLog, MemoryIsBounded) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "h" + std::to_string(i) +
            ":1:2 [0] NCCL WARN NET/IB : Got completion with error 12, opcode 0, len 0, vendor err 129\n";
  }
  const TextReading reading = read_text(text, "nccl.log", log_formats());
  const NcclLog& log = *only(reading, "nccl-log")->as<NcclLog>();
  EXPECT_EQ(log.signs.completions.total, 5000u);
  EXPECT_EQ(log.signs.by_status[12], 5000u);
  EXPECT_EQ(log.signs.completions.first.size(), Few<FailedCompletion>::kKept);
  EXPECT_EQ(log.hosts.size(), NcclLog::kMostHosts);
}

TEST(UcxLog, Facts) {
  for (const ExpectedFacts& expected : std::initializer_list<ExpectedFacts>{
           {"ucx-log/first-send-link-local.txt",
            "ucx-log",
            {{"cqe.syndrome", 21}, {"cqe.vendor_syndrome", 129}, {"cqe.qpn", 0x9a1}}},
           {"ucx-log/older-one-line.txt",
            "ucx-log",
            {{"cqe.syndrome", 21}, {"cqe.vendor_syndrome", 129}, {"cqe.qpn", 0xe6d7}}},
           {"ucx-log/local-protection.txt",
            "ucx-log",
            {{"cqe.syndrome", 4}, {"cqe.vendor_syndrome", 81}, {"cqe.qpn", 0x31}}},
           {"ucx-log/reg-mr.txt", "ucx-log", {}},
       }) {
    expect_facts(expected, log_formats());
  }
}

TEST(UcxLog, FirstRequestAndLinkLayer) {
  const FailedCompletion first = ucx("first-send-link-local.txt").signs.completions.first.at(0);
  EXPECT_TRUE(first.is_first_request);
  EXPECT_EQ(first.sgid_index, 0);
  EXPECT_EQ(first.traffic_class, 0);
  ASSERT_TRUE(first.remote);
  EXPECT_TRUE(first.remote->is_link_local());
  const FailedCompletion later = ucx("in-traffic-ib.txt").signs.completions.first.at(0);
  EXPECT_TRUE(later.is_later_request);
  EXPECT_TRUE(later.is_infiniband);
  EXPECT_EQ(ucx("reg-mr.txt").signs.registrations.first.at(0).error, 12);
}

TEST(AppLog, StatusesBySeveralWords) {
  EXPECT_EQ(app("gloo.txt").signs.completions.first.at(0).status, 12);
  EXPECT_EQ(app("mooncake-slice.txt").signs.completions.first.at(0).status, 12);
  EXPECT_EQ(app("mooncake-slice.txt").signs.completions.first.at(0).device, "mlx5_1");
  EXPECT_EQ(app("spdk-flush.txt").signs.by_status[5], 2u);
  expect_facts({"app-log/gloo.txt", "app-log", {{"wc.status", 12}}}, log_formats());
}

TEST(AppLog, SetUpMemoryAndDrivers) {
  const AppLog log = app("mooncake-link-local.txt");
  EXPECT_EQ(log.signs.qp_setups.first.at(0).error, 110);
  ASSERT_EQ(log.signs.gids.total, 1u);
  EXPECT_TRUE(log.signs.gids.first[0].gid.is_link_local());
  EXPECT_EQ(log.signs.gids.first[0].index, 0);
  EXPECT_EQ(log.signs.gids.first[0].device, "mlx5_2");
  EXPECT_EQ(app("mooncake-register.txt").signs.registrations.first.at(0).error, 12);
  EXPECT_EQ(app("efault.txt").signs.registrations.first.at(0).error, 14);
  EXPECT_EQ(app("libibverbs-provider.txt").signs.missing_provider.total, 2u);
  EXPECT_EQ(app("libibverbs-abi.txt").signs.missing_provider.total, 1u);
  EXPECT_GE(app("nvshmem-no-hca.txt").signs.no_rdma.total, 1u);
}

TEST(AppLog, SentencesAboutErrorsAreNone) {
  EXPECT_TRUE(read_fixture("app-log/not-a-log.txt", log_formats()).documents.empty());
}

TEST(Environment, SeveralWaysToWriteOne) {
  const auto settings = [](const std::string& name) {
    std::map<std::string, std::string> out;
    for (const Setting& setting : content_of<Environment>(name, "env").settings)
      out[setting.name] = setting.value;
    return out;
  };
  EXPECT_EQ(settings("env/exports.sh.txt"),
            (std::map<std::string, std::string>{{"NCCL_IB_HCA", "mlx5_0,mlx5_1"},
                                                {"NCCL_IB_TC", "106"},
                                                {"NCCL_IB_GID_INDEX", "3"},
                                                {"NCCL_DEBUG", "INFO"}}));
  EXPECT_EQ(
      settings("env/kubernetes.yaml"),
      (std::map<std::string, std::string>{{"NCCL_IB_HCA", "mlx5_4,mlx5_5"}, {"NCCL_IB_TIMEOUT", "200"}}));
  EXPECT_EQ(
      settings("env/compose.yaml"),
      (std::map<std::string, std::string>{{"UCX_IB_TRAFFIC_CLASS", "104"}, {"UCX_NET_DEVICES", "mlx5_0:1"}}));
  EXPECT_EQ(settings("env/nccl.conf"),
            (std::map<std::string, std::string>{{"NCCL_IB_TIMEOUT", "23"}, {"NCCL_ALGO", "Ring"}}));
  EXPECT_TRUE(read_fixture("env/not-settings.txt", log_formats()).documents.empty());
}

TEST(Environment, TrafficClassFacts) {
  expect_facts({"env/exports.sh.txt", "env", {{"map.traffic_class", 106}, {"map.dscp", 26}}}, log_formats());
  expect_facts({"env/raw-dscp.txt", "env", {{"map.traffic_class", 26}, {"map.dscp", 6}}}, log_formats());
  for (const auto& [name, value, expected] :
       std::initializer_list<std::tuple<const char*, const char*, std::optional<int>>>{
           {"NCCL_IB_TC", "0x6a", 106},
           {"NCCL_IB_TC", "256", std::nullopt},
           {"UCX_IB_TRAFFIC_CLASS", "auto", std::nullopt},
           {"MC_IB_TC", "96", 96},
           {"NCCL_IB_FIFO_TC", "96", std::nullopt},
           {"NCCL_IB_SL", "3", std::nullopt}}) {
    EXPECT_EQ(traffic_class_of({.name = name, .value = value, .line = 1, .host = {}}), expected)
        << name << value;
  }
}

TEST(Command, RolesContinuationsAndContainers) {
  const auto roles = content_of<CommandLines>("command/roles.txt", "command");
  ASSERT_EQ(roles.commands.size(), 2u);
  EXPECT_EQ(roles.commands[0].role, "server");
  EXPECT_EQ(roles.commands[1].value_of("-x"), "3");
  EXPECT_EQ(roles.commands[1].value_of("-d"), "mlx5_0");

  const auto mpirun = content_of<CommandLines>("command/mpirun-continued.txt", "command");
  ASSERT_EQ(mpirun.commands.size(), 1u);
  EXPECT_EQ(mpirun.commands[0].program, "mpirun");
  EXPECT_EQ(mpirun.settings.size(), 3u);

  const auto docker = content_of<CommandLines>("command/docker.txt", "command");
  EXPECT_EQ(docker.settings.size(), 3u);
  expect_facts({"command/mpirun-continued.txt", "command", {{"map.traffic_class", 106}, {"map.dscp", 26}}},
               log_formats());
}

TEST(Command, BehindAPromptAnyProgramIsOne) {
  const auto prompted = content_of<CommandLines>("command/prompted.txt", "command");
  ASSERT_EQ(prompted.commands.size(), 3u);
  EXPECT_EQ(prompted.commands[1].program, "train");
  EXPECT_EQ(prompted.settings.at(0).name, "NCCL_IB_QPS_PER_CONNECTION");
  EXPECT_EQ(prompted.settings.at(0).host, "node7");
  expect_facts({"command/prompted.txt", "command", {{"map.traffic_class", 104}, {"map.dscp", 26}}},
               log_formats());
}

TEST(Command, SentencesWithProgramsAreNone) {
  EXPECT_TRUE(read_fixture("command/not-commands.txt", log_formats()).documents.empty());
}

}  // namespace
}  // namespace rocetune::evidence
