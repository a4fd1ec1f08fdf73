#include "agent/report/sim_page.h"

#include <gmock/gmock.h>

#include "tests/dataplane/html/well_formed.h"

namespace rocetune::report {
namespace {

using html::markup_problem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kHostile = "<img src=x onerror='alert(1)'>&\"";

fabric::RunResult run_of() {
  fabric::RunResult r{.scenario = "incast",
                      .description = "16 to one",
                      .seed = 7,
                      .virtual_s = 0.002769,
                      .hosts = 17,
                      .switches = 1};
  r.event_log_sha256 = "9f2c1e";
  r.packet_hops = 1'234'567;
  r.flows = {.count = 16,
             .finished = 16,
             .fct_us = fabric::FctSummary{
                 .min = 2729.3, .mean = 2754.3, .p50 = 2756.9, .p99 = 2768.9, .p999 = 2769.1, .max = 2769.2}};
  r.flows.goodput_gbps = r.goodput_gbps = 92.45;
  r.flows.bytes = 32'000'000;
  r.ports = {{.name = "switch 0 port 16",
              .peer = "host 16",
              .queue_bytes = {.mean = 1622.7e3, .p50 = 1, .p95 = 2, .p99 = 3, .max = 1742000}}};
  r.checkers = {{"no drop in a lossless class", true, ""}, {"every byte where it belongs", true, ""}};
  return r;
}

std::string page_for(const fabric::RunResult& r) {
  return sim_page({.command = "rocetune sim incast --seed 7",
                   .result = r,
                   .resources = {.cpu_seconds = 1.5, .peak_rss_bytes = 96'400'000}});
}

TEST(SimPage, BeginsWithWhatCameOfIt) {
  const std::string page = page_for(run_of());
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page,
              HasSubstr("<p class='faint'>17 hosts, 1 switch; seed 7; 2.77\u00a0ms of virtual time</p>"));
  EXPECT_THAT(page, HasSubstr("<b>All 2 checks hold.</b>"));
  EXPECT_THAT(page,
              HasSubstr("<dt>goodput</dt><dd>92.5\u00a0Gb/s</dd><dd class='note'>32\u00a0MB in all</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>completion p99</dt><dd>2.77\u00a0ms</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>lost</dt><dd>0</dd>"));
}

TEST(SimPage, SaysHowToRepeatIt) {
  const std::string page = page_for(run_of());
  EXPECT_THAT(page, HasSubstr("<pre>rocetune sim incast --seed 7</pre>"));
  EXPECT_THAT(page, HasSubstr("<code>9f2c1e</code>"));
  EXPECT_THAT(page, HasSubstr("1\u202f234\u202f567 packet hops"));
  EXPECT_THAT(page, HasSubstr("1.5\u00a0s of processor time, 96.4\u00a0MB of memory"));
}

TEST(SimPage, WithoutSeriesHasNoCharts) {
  const std::string page = page_for(run_of());
  EXPECT_THAT(page, Not(HasSubstr("Over time")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(SimPage, SaysWhatTheScenarioShows) {
  fabric::RunResult r = run_of();
  r.lesson = {
      {.says = "Senders are held", .metric = "pause.frames", .at_least = 1, .found = 810, .is_seen = true},
      {.says = "DCQCN acts", .metric = "ecn.cnps_handled", .at_least = 1, .found = 0}};
  const std::string page = page_for(r);
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("<b class='sign'>✓</b> Senders are held<small>pause.frames: 810</small>"));
  EXPECT_THAT(page,
              HasSubstr("<b class='sign'>–</b> DCQCN acts<small>not so in this run; ecn.cnps_handled: 0"));
}

TEST(SimPage, ListsTheSlowestFlows) {
  fabric::RunResult r = run_of();
  r.flows.slowest = {{.name = "host 1 to host 0", .bytes = 2'000'000, .goodput_gbps = 1},
                     {.name = "host 2 to host 0", .bytes = 2'000'000, .fct_us = 900, .goodput_gbps = 17.8}};
  const std::string page = page_for(r);
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("<td class='l'>host 1 to host 0</td><td>2\u00a0MB</td><td>0\u00a0s</td><td "
                              "class='warn'>unfinished</td><td>1\u00a0Gb/s</td>"));
  EXPECT_THAT(page, HasSubstr("14 more were faster."));
}

TEST(SimPage, WhatIsAbsentIsNotZero) {
  fabric::RunResult r = run_of();
  r.flows.fct_us.reset();
  r.flows.finished = 0;
  r.ports.clear();
  r.checkers.clear();
  r.pause_frames = 3;
  const std::string page = page_for(r);
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, Not(HasSubstr("completion p50")));
  EXPECT_THAT(page, HasSubstr("there is no completion time"));
  EXPECT_THAT(page, Not(HasSubstr("<dt>completion max</dt>")));
  EXPECT_THAT(page, HasSubstr("This result holds no checks."));
  EXPECT_THAT(page, HasSubstr("does not say by whom and why"));
  EXPECT_THAT(page, Not(HasSubstr("Deadlock")));
}

TEST(SimPage, AViolatedCheckComesFirst) {
  fabric::RunResult r = run_of();
  r.checkers[0] = {"no drop in a lossless class", false, "12 drops"};
  const std::string page = page_for(r);
  EXPECT_THAT(page, HasSubstr("<div class='verdict bad'><b class='sign'>✗</b><div><b>Violated: no drop in a "
                              "lossless class</b>: 12 drops.</div>"));
  EXPECT_THAT(page, HasSubstr("<td class='l bad'>✗ violated</td><td class='l wrap'>12 drops</td>"));
}

TEST(SimPage, NoNameBecomesMarkup) {
  fabric::RunResult r = run_of();
  r.scenario = r.description = r.event_log_sha256 = kHostile;
  r.lesson = {{.says = kHostile, .metric = kHostile}};
  r.flows.slowest = {{.name = kHostile}, {.name = kHostile}};
  r.jobs = {{.name = kHostile, .steps = {{.name = kHostile, .what = kHostile, .when = {{0, 1}}}}}};
  r.ports[0].name = r.ports[0].peer = kHostile;
  r.checkers[0] = {kHostile, false, kHostile};
  r.pause_tree = {{0, kHostile, kHostile, kHostile, 3, 1, 1}};
  r.deadlock = fabric::Deadlock{1, {kHostile, kHostile}, 3};
  r.series = fabric::TimeSeries{.step_us = 10,
                                .goodput_gbps = {1},
                                .ports = {{kHostile, kHostile, {1}, {1}}},
                                .flows = {{kHostile, {1}}},
                                .links = {{kHostile, kHostile, 1, {1}}}};
  const std::string page = sim_page({.command = kHostile, .result = r, .resources = {}});
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  r.deadlock->cycle = {kHostile};
  r.series.reset();
  EXPECT_THAT(page_for(r), Not(HasSubstr("<img")));
}

// The least there can be.
TEST(SimPage, OfAnEmptyResultIsWellFormed) {
  fabric::RunResult r;
  EXPECT_EQ(markup_problem(page_for(r)), "");
  r.series = fabric::TimeSeries{};
  EXPECT_EQ(markup_problem(page_for(r)), "");
}

}  // namespace
}  // namespace rocetune::report
