#include "dataplane/tap/pause_timeline.h"

#include <algorithm>

#include "congestion/fixed_point.h"

namespace rocetune::tap {
namespace {

struct Span {
  Instant start;
  Instant end;
};

// The time at least one source asked for silence.
std::vector<Span> union_of(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::start);
  std::vector<Span> merged;
  for (const Span& span : spans) {
    if (!merged.empty() && span.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, span.end);
    } else {
      merged.push_back(span);
    }
  }
  return merged;
}

// Stretches of which `share` or more is paused, at least as long as the rule asks for. Grows a stretch from
// each span for as long as the share holds at a span's end.
std::vector<Span> storms_in(const std::vector<Span>& spans, const StormRule& rule) {
  std::vector<Span> storms;
  for (std::size_t i = 0; i < spans.size();) {
    Duration paused;
    std::size_t last = i;
    for (std::size_t j = i; j < spans.size(); ++j) {
      const Duration so_far = paused + (spans[j].end - spans[j].start);
      const Duration length = spans[j].end - spans[i].start;
      if (Wide(so_far.count()) * Ratio::kOne < Wide(length.count()) * rule.share.count()) break;
      paused = so_far;
      last = j;
    }
    if (spans[last].end - spans[i].start >= rule.detection)
      storms.push_back({spans[i].start, spans[last].end});
    i = last + 1;
  }
  return storms;
}

PauseInterval for_people(Instant first, Span span, std::string source) {
  return {.start_s = (span.start - first).seconds(),
          .end_s = (span.end - first).seconds(),
          .source = std::move(source)};
}

}  // namespace

void PauseTimeline::pause(Instant now, int row, const wire::MacAddress& source, PauseQuanta quanta) {
  const auto r = static_cast<std::size_t>(row);
  const auto newest = newest_[r].find(source);
  Interval* running = newest == newest_[r].end() ? nullptr : &intervals_[r][newest->second];
  const Instant until = now + quanta.at(link_);
  if (running != nullptr && now <= running->until) {
    running->until = std::max(until, running->start);  // renewed, shortened or ended
    return;
  }
  if (quanta == PauseQuanta(0)) return;
  newest_[r][source] = intervals_[r].size();
  intervals_[r].push_back({now, until, source});
}

void PauseTimeline::on_pfc(Instant now, const wire::MacAddress& source, const PfcMessage& message) {
  for (int p = 0; p < Priority::kCount; ++p) {
    if (message.enabled.contains(Priority(p)))
      pause(now, p, source, message.quanta[static_cast<std::size_t>(p)]);
  }
}

void PauseTimeline::on_global_pause(Instant now, const wire::MacAddress& source, PauseQuanta quanta) {
  pause(now, kGlobal, source, quanta);
}

std::vector<PauseFacts> PauseTimeline::facts(Instant first, Instant last, const StormRule& rule) const {
  std::vector<PauseFacts> out;
  for (int row = 0; row <= kGlobal; ++row) {
    const std::vector<Interval>& intervals = intervals_[static_cast<std::size_t>(row)];
    if (intervals.empty()) continue;
    PauseFacts facts;
    if (row < kGlobal) facts.priority = Priority(row);
    facts.interval_count = static_cast<std::int64_t>(intervals.size());
    std::vector<Span> spans;
    for (const Interval& interval : intervals) {
      const Span span{interval.start, std::max(interval.start, std::min(interval.until, last))};
      spans.push_back(span);
      if (facts.intervals.size() < PauseFacts::kMaxIntervals) {
        facts.intervals.push_back(for_people(first, span, to_text(interval.source)));
      }
    }
    for (const auto& [mac, index] : newest_[static_cast<std::size_t>(row)])
      facts.sources.push_back(to_text(mac));
    const std::string source = facts.sources.size() == 1 ? facts.sources.front() : "";
    const std::vector<Span> merged = union_of(std::move(spans));
    Duration paused;
    Duration longest;
    for (const Span& span : merged) {
      paused += span.end - span.start;
      longest = std::max(longest, span.end - span.start);
    }
    facts.paused_s = paused.seconds();
    facts.longest_us = longest.microseconds();
    if (last > first) facts.ratio = facts.paused_s / (last - first).seconds();
    for (const Span& storm : storms_in(merged, rule))
      facts.storms.push_back(for_people(first, storm, source));
    out.push_back(std::move(facts));
  }
  return out;
}

}  // namespace rocetune::tap
