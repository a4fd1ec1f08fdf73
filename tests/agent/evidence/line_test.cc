#include "agent/evidence/line.h"

#include <gtest/gtest.h>

namespace rocetune::evidence {
namespace {

TEST(Line, PlainTextIsHandedOutAsItIs) {
  LineCleaner cleaner;
  const std::string raw = "  rx_prio3_pause: 12";
  const Line line = cleaner.clean(raw, 7);
  EXPECT_EQ(line.text, raw);
  EXPECT_EQ(line.text.data(), raw.data()) << "no copy of a clean line";
  EXPECT_EQ(line.number, 7);
  EXPECT_FALSE(line.is_command);
}

TEST(Line, ColoursUnderlinesAndCarriageReturnsAreGone) {
  LineCleaner cleaner;
  EXPECT_EQ(cleaner.clean("\x1b[4mGPU0\x1b[0m\tNIC0\r", 1).text, "GPU0\tNIC0");
  EXPECT_EQ(cleaner.clean("\x1b]0;title\aprio\t3", 1).text, "prio\t3");
  EXPECT_EQ(cleaner.clean("_\bG_\bP_\bU", 1).text, "GPU");
  EXPECT_EQ(cleaner.clean("50%\r100%", 1).text, "100%") << "what was written over is gone";
  EXPECT_EQ(cleaner
                .clean("a\xc2\xa0"
                       "b \t",
                       1)
                .text,
            "a b");
  EXPECT_EQ(cleaner.clean("\x1b[", 1).text, "");
  EXPECT_EQ(cleaner.clean("\x1b", 1).text, "");
}

TEST(Line, LaunchersTagsAreTaken) {
  LineCleaner cleaner;
  const Line line = cleaner.clean("[1,0]<stdout>:   1024  256  float", 1);
  EXPECT_EQ(line.tag, "1,0");
  EXPECT_EQ(line.text, "   1024  256  float");
  EXPECT_EQ(cleaner.clean("[0]: rx_discards: 5", 1).text, "[0]: rx_discards: 5") << "a ring, no tag";
}

struct PromptCase {
  const char* raw;
  const char* host;
  const char* command;
};
class LinePrompt : public testing::TestWithParam<PromptCase> {};

TEST_P(LinePrompt, IsSplitFromItsCommand) {
  LineCleaner cleaner;
  const Line line = cleaner.clean(GetParam().raw, 1);
  EXPECT_TRUE(line.is_command);
  EXPECT_EQ(line.prompt_host, GetParam().host);
  EXPECT_EQ(line.text, GetParam().command);
}
INSTANTIATE_TEST_SUITE_P(
    All, LinePrompt,
    testing::Values(PromptCase{"user@node1:~$ ethtool -S eth0", "node1", "ethtool -S eth0"},
                    PromptCase{"[root@gpu-07 tmp]# mlnx_qos -i ens1", "gpu-07", "mlnx_qos -i ens1"},
                    PromptCase{"root@h3:/sys/class/net# show_gids", "h3", "show_gids"},
                    PromptCase{"admin@leaf1:~$ show pfc counters", "leaf1", "show pfc counters"},
                    PromptCase{"leaf1#show priority-flow-control", "leaf1", "show priority-flow-control"},
                    PromptCase{"leaf1(config)# show run", "leaf1", "show run"},
                    PromptCase{"(base) user@node2:~$ nvidia-smi topo -m", "node2", "nvidia-smi topo -m"},
                    PromptCase{"$ ibstat", "", "ibstat"}),
    [](const auto& one) { return std::to_string(one.index); });

TEST(Line, CommentsAndAddressesAreNoPrompts) {
  LineCleaner cleaner;
  for (const char* text : {"# nThread 1 nGpus 1", "#  Rank  0 Pid 7 on h1 device 0", "a@b.example wrote:",
                           "size > 100", "prio3#", "host# comment", "mlx5_0 > mlx5_1"}) {
    EXPECT_FALSE(cleaner.clean(text, 1).is_command) << text;
  }
}

}  // namespace
}  // namespace rocetune::evidence
