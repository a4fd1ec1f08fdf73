// What cannot be read is never an alarm: facts of a healthy host are taken away one by one, and in handfuls.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "tests/agent/diagnose/host_builder.h"

namespace rocetune::diagnose {
namespace {

template <class T>
struct is_observed : std::false_type {};
template <class T>
struct is_observed<Observed<T>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};

using Removal = std::function<void(const Unavailable&)>;

// Every fact of `object` that can be missing, as a way to make it so.
template <class T>
void collect(T& object, const std::string& path, std::vector<std::pair<std::string, Removal>>& out) {
  if constexpr (is_observed<T>::value) {
    out.emplace_back(path, [&object](const Unavailable& why) { object = tl::unexpected(why); });
    if (object) collect(*object, path, out);
  } else if constexpr (is_optional<T>::value) {
    if (object) out.emplace_back(path, [&object](const Unavailable&) { object.reset(); });
  } else if constexpr (is_vector<T>::value) {
    if constexpr (Reflected<typename T::value_type>) {
      for (std::size_t i = 0; i < object.size(); ++i) collect(object[i], fmt::format("{}[{}]", path, i), out);
    }
  } else if constexpr (Reflected<T>) {
    for_each_field(object, [&](std::string_view name, auto& member) {
      collect(member, path + "." + std::string(name), out);
    });
  }
}

std::vector<std::pair<std::string, Removal>> removals(Scenario& s) {
  std::vector<std::pair<std::string, Removal>> out;
  collect(s.host, "host", out);
  for (counters::PortDelta& delta : s.interval.ports) {
    for (auto& [id, increment] : delta.increments) collect(increment, delta.port + " " + to_text(id), out);
  }
  return out;
}

const Unavailable kReasons[] = {{Unavailable::Kind::absent, "not this kernel"},
                                {Unavailable::Kind::denied, "no permission"},
                                {Unavailable::Kind::failed, "read error"},
                                {Unavailable::Kind::not_read, "not read"}};

TEST(Absence, NoSingleMissingFactIsAnAlarm) {
  Scenario count = healthy();
  const std::size_t facts = removals(count).size();
  EXPECT_GT(facts, 150u);
  for (const Unavailable& why : kReasons) {
    for (std::size_t i = 0; i < facts; ++i) {
      Scenario s = healthy();
      auto all = removals(s);
      // A removal that empties an outer fact invalidates those inside it, so each scenario loses one only.
      all[i].second(why);
      EXPECT_EQ(alarms(s.report()), std::vector<std::string>{}) << all[i].first << " " << why.why;
    }
  }
}

TEST(Absence, NoHandfulOfMissingFactsIsAnAlarm) {
  std::mt19937_64 random(20260101);
  for (int round = 0; round < 500; ++round) {
    Scenario s = healthy();
    std::string what;
    for (int n = 0; n < 12; ++n) {
      auto all = removals(s);  // anew: an earlier removal may have taken others with it
      if (all.empty()) break;
      auto& one = all[random() % all.size()];
      what += one.first + "\n";
      one.second(kReasons[random() % std::size(kReasons)]);
    }
    EXPECT_EQ(alarms(s.report()), std::vector<std::string>{}) << what;
  }
}

TEST(Absence, AHostThatShowsNothingHasNoAlarm) {
  Scenario s = healthy();
  host::Port bare;
  bare.name = "eth0";
  bare.nic = "mlx5";
  s.host = host::Host{};
  s.host.ports = {bare};
  s.sampled = false;
  const Report report = s.report();
  EXPECT_TRUE(report.findings.empty());
  EXPECT_GT(report.not_checked.size(), 30u);
}

}  // namespace
}  // namespace rocetune::diagnose
