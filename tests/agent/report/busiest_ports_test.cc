#include "agent/report/busiest_ports.h"

#include <gmock/gmock.h>

#include "tests/dataplane/html/well_formed.h"

namespace rocetune::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(BusiestPorts, TheLongestMeanQueueFirstThenTheMostPauses) {
  const std::vector<fabric::PortResult> ports{
      {.name = "idle"},
      {.name = "pauses", .pauses_sent = 2},
      {.name = "pauses more", .pauses_sent = 5},
      {.name = "queue", .queue_bytes = {.mean = 10, .max = 20}},
      {.name = "drops", .drops = 1},
  };
  std::vector<std::string> names;
  for (const fabric::PortResult* port : busiest_ports(ports)) names.push_back(port->name);
  EXPECT_THAT(names, ElementsAre("queue", "pauses more", "pauses", "drops"));
}

TEST(PortSection, IsATableOfTheBusiest) {
  std::vector<fabric::PortResult> ports(kMostPorts + 3);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ports[i].name = "switch 0 port " + std::to_string(i);
    ports[i].queue_bytes = {.mean = 1e6 - static_cast<double>(i), .max = 2'000'000};
  }
  ports[0].drops = 12;
  ports[0].peer_paused_ratio = 0.25;
  const std::string section = port_section(ports);
  EXPECT_EQ(html::markup_problem(section), "");
  EXPECT_THAT(section, HasSubstr("<td>1000.0</td><td>0.0</td><td style='--s:100.0%'>2000.0</td>"));
  EXPECT_THAT(section, HasSubstr("<td class='warn'>12</td>"));
  EXPECT_THAT(section, HasSubstr("<td style='--s:25.0%'>25.0</td>"));
  EXPECT_THAT(section, HasSubstr("3 more with shorter queues; --json has all 23."));
}

TEST(PortSection, TellsNoPortsFromNoQueues) {
  EXPECT_THAT(port_section({}), HasSubstr("no ports of switches"));
  EXPECT_THAT(port_section({{.name = "idle"}}), HasSubstr("No queue at any port"));
}

}  // namespace
}  // namespace rocetune::report
