#include "dataplane/fabric/deadlock_finder.h"

#include <algorithm>
#include <map>

namespace rocetune::fabric {

std::vector<ClassPlace> DeadlockFinder::stuck(Instant now) const {
  std::vector<ClassPlace> out;
  for (std::uint32_t i = 0; i < network_.switches(); ++i) {
    const SwitchNode& node = network_.switch_at(i);
    for (std::uint16_t port = 0; port < node.ports(); ++port) {
      if (node.queued_bytes(port) == 0) continue;
      for (std::uint8_t p = 0; p < Priority::kCount; ++p) {
        if (node.is_stuck(now, port, Priority(p))) out.push_back({{node.id(), port}, p});
      }
    }
  }
  return out;
}

std::vector<ClassPlace> DeadlockFinder::waits_for(const ClassPlace& place, Instant now) const {
  const PortPlace far = far_ends_.of(place.at);
  if (far_ends_.is_host(far.node)) return {};
  const SwitchNode& next = network_.switch_at(far_ends_.switch_index(far.node));
  const Priority p(place.priority);
  std::vector<ClassPlace> out;
  for (std::uint16_t port = 0; port < next.ports(); ++port) {
    if (next.is_stuck(now, port, p) && next.holds_from(port, p, far.port))
      out.push_back({{far.node, port}, place.priority});
  }
  return out;
}

std::uint64_t DeadlockFinder::packets(const ClassPlace& place) const {
  const SwitchNode& node = network_.switch_at(far_ends_.switch_index(place.at.node));
  return node.counters(place.at.port).packets[place.priority];
}

// Depth first; the first place met again while it is still on the way closes a circle.
std::vector<ClassPlace> DeadlockFinder::circle_among(const std::vector<ClassPlace>& stuck,
                                                     Instant now) const {
  enum class Mark : std::uint8_t { on_the_way, done };
  std::map<ClassPlace, Mark> marks;
  struct Step {
    ClassPlace place;
    std::vector<ClassPlace> next;
  };
  for (const ClassPlace& start : stuck) {
    if (marks.contains(start)) continue;
    std::vector<Step> way{{start, waits_for(start, now)}};
    marks[start] = Mark::on_the_way;
    while (!way.empty()) {
      if (way.back().next.empty()) {
        marks[way.back().place] = Mark::done;
        way.pop_back();
        continue;
      }
      const ClassPlace next = way.back().next.back();
      way.back().next.pop_back();
      const auto met = marks.find(next);
      if (met == marks.end()) {
        marks[next] = Mark::on_the_way;
        way.push_back({next, waits_for(next, now)});
      } else if (met->second == Mark::on_the_way) {
        std::vector<ClassPlace> circle;
        const auto first = std::ranges::find(way, next, &Step::place);
        for (auto step = first; step != way.end(); ++step) circle.push_back(step->place);
        std::ranges::rotate(circle, std::ranges::min_element(circle));
        return circle;
      }
    }
  }
  return {};
}

std::optional<Deadlock> DeadlockFinder::look(Instant now) {
  Seen seen{.circle = circle_among(stuck(now), now)};
  for (const ClassPlace& place : seen.circle) seen.packets.push_back(packets(place));
  const bool stood_still = !seen.circle.empty() && seen == seen_;
  seen_ = std::move(seen);
  if (!stood_still) return std::nullopt;
  Deadlock out{.found_us = (now - Instant()).seconds() * 1e6, .priority = seen_.circle.front().priority};
  for (const ClassPlace& place : seen_.circle) out.cycle.push_back(far_ends_.name(place.at));
  return out;
}

}  // namespace rocetune::fabric
