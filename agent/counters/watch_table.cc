#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "agent/counters/watch_view.h"

namespace rocetune::counters {
namespace {

// Shares of time above these are painted; the judgement itself is the doctor's.
constexpr double kPauseNotice = 0.01;
constexpr double kPauseBad = 0.5;

// "0", "12", "1.23k", "97.8G": three digits.
std::string scaled(double number) {
  constexpr std::array<const char*, 6> kSuffixes{"", "k", "M", "G", "T", "P"};
  std::size_t power = 0;
  while (number >= 999.5 && power + 1 < kSuffixes.size()) {
    number /= 1000;
    ++power;
  }
  if (number == 0 || (power == 0 && number >= 99.95) || (power == 0 && number == std::floor(number))) {
    return fmt::format("{:.0f}{}", number, kSuffixes[power]);
  }
  return fmt::format("{:.{}f}{}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0, kSuffixes[power]);
}

// "1.000 s"; of a virtual fabric often less: "0.300 ms".
std::string span_text(Duration span) {
  return span < milliseconds(100) ? fmt::format("{:.3f} ms", span.seconds() * 1e3)
                                  : fmt::format("{:.3f} s", span.seconds());
}

std::string superscript(std::size_t number) {
  constexpr std::array<const char*, 10> kDigits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char digit : std::to_string(number)) out += kDigits[static_cast<std::size_t>(digit - '0')];
  return out;
}

// "0-2 4-7" of {0,1,2,4,5,6,7}.
std::string ranges(const std::vector<int>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : " ", numbers[i]);
    if (last > i) out += fmt::format("{}{}", last == i + 1 ? ' ' : '-', numbers[last]);
    i = last + 1;
  }
  return out;
}

// Collects why values are absent, each reason once.
class Footnotes {
 public:
  TextTable::Cell dash(const PortDelta& port, std::string_view counter, std::optional<Priority> priority) {
    const auto why = port.why_absent(counter, priority);
    const std::string text = fmt::format("{}: {}", counter, why_for_all(why ? why->why : "", priority));
    auto found = std::ranges::find(texts_, text);
    if (found == texts_.end()) {
      texts_.push_back(text);
      found = texts_.end() - 1;
    }
    return {"–" + superscript(static_cast<std::size_t>(found - texts_.begin()) + 1), Paint::faint};
  }
  std::string text(bool coloured) const {
    std::string out;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      out += painted(superscript(i + 1) + " " + texts_[i], Paint::faint, coloured) + "\n";
    }
    return out;
  }

 private:
  std::vector<std::string> texts_;
};

TextTable::Cell traffic(const PortDelta& port, const std::string& side, Priority priority, Footnotes& notes) {
  if (const auto rate = port.rate(side + "_bytes", priority)) {
    return scaled(static_cast<double>(rate->bits_per_second()));
  }
  // Some NICs count only packets per priority.
  if (const auto packets = port.per_second(side + "_packets", priority)) return scaled(*packets) + " pkt/s";
  return notes.dash(port, side + "_bytes", priority);
}

TextTable::Cell percent_of_time(double share) {
  const Paint paint = share >= kPauseBad ? Paint::bad : share >= kPauseNotice ? Paint::warning : Paint::plain;
  const double percent = share * 100;
  if (percent == 0) return "0";
  if (percent < 0.01) return {"<0.01", paint};
  return {fmt::format("{:.{}f}", percent, percent < 10 ? 2 : 1), paint};
}

TextTable::Cell paused(const PortDelta& port, const std::string& side, Priority priority, Footnotes& notes) {
  const std::string duration = side + "_pause_duration_us";
  if (const auto share = port.share_of_time(duration, priority)) return percent_of_time(share->value());
  // Frames alone tell that there was pause, not how much.
  const auto frames = port.increment(side + "_pause_frames", priority);
  TextTable::Cell cell = notes.dash(port, duration, priority);
  if (frames && *frames > 0) {
    cell = {fmt::format("{} ({} frames)", cell.text, scaled(static_cast<double>(*frames))), Paint::warning};
  }
  return cell;
}

TextTable::Cell stall(const PortDelta& port, const std::string& side, Priority priority, Footnotes& notes) {
  if (const auto mean = port.mean_stall(side, priority)) return scaled(mean->microseconds());
  for (const char* part : {"_pause_duration_us", "_pause_transitions"}) {
    if (!port.increment(side + part, priority)) return notes.dash(port, side + part, priority);
  }
  return "";  // no stall ended: there is no mean
}

TextTable::Cell count(const PortDelta& port, std::string_view name, std::optional<Priority> priority,
                      Footnotes& notes, bool is_bad_above_zero) {
  const auto increment = port.increment(name, priority);
  if (!increment) return notes.dash(port, name, priority);
  return {scaled(static_cast<double>(*increment)),
          is_bad_above_zero && *increment > 0 ? Paint::bad : Paint::plain};
}

TextTable::Cell per_second(const PortDelta& port, std::string_view name, Footnotes& notes) {
  const auto rate = port.per_second(name);
  return rate ? TextTable::Cell(scaled(*rate)) : notes.dash(port, name, std::nullopt);
}

TextTable::Cell percent_level(const PortDelta& port, std::string_view name, Footnotes& notes) {
  const auto level = port.level(name);
  if (!level) return notes.dash(port, name, std::nullopt);
  return {std::to_string(*level), *level > 30 ? Paint::warning : Paint::plain};
}

// What is known of a priority, all of it zero: idle. Nothing known: not counted.
enum class Activity { idle, active, unknown };
Activity activity(const PortDelta& port, Priority priority) {
  bool any = false;
  for (const auto& [id, increment] : port.increments) {
    if (id.priority != priority || !increment) continue;
    any = true;
    if (*increment > 0) return Activity::active;
  }
  return any ? Activity::idle : Activity::unknown;
}

TextTable priority_table() {
  return TextTable({{.title = "port", .overflow = Overflow::truncate},
                    {.title = "prio"},
                    {.title = "sent", .unit = "bit/s", .align = Align::right},
                    {.title = "received", .unit = "bit/s", .align = Align::right},
                    {.title = "rx pause", .unit = "% of time", .align = Align::right},
                    {.title = "mean stall", .unit = "us", .align = Align::right},
                    {.title = "tx pause", .unit = "% of time", .align = Align::right},
                    {.title = "mean stall", .unit = "us", .align = Align::right},
                    {.title = "discards", .unit = "packets", .align = Align::right}});
}

void add_priorities(TextTable& table, const PortDelta& port, Footnotes& notes) {
  std::vector<int> idle, unknown;
  for (int p = 0; p < Priority::kCount; ++p) {
    const Priority priority(p);
    switch (activity(port, priority)) {
      case Activity::idle:
        idle.push_back(p);
        continue;
      case Activity::unknown:
        unknown.push_back(p);
        continue;
      case Activity::active:
        break;
    }
    table.add_row({{port.port, Paint::strong},
                   std::to_string(p),
                   traffic(port, "tx", priority, notes),
                   traffic(port, "rx", priority, notes),
                   paused(port, "rx", priority, notes),
                   stall(port, "rx", priority, notes),
                   paused(port, "tx", priority, notes),
                   stall(port, "tx", priority, notes),
                   count(port, "rx_discards", priority, notes, true)});
  }
  if (!idle.empty()) {
    table.add_row({{port.port, Paint::strong}, ranges(idle), {"idle", Paint::faint}, {"idle", Paint::faint}});
  }
  if (!unknown.empty()) {
    const Priority first(unknown.front());
    table.add_row({{port.port, Paint::strong},
                   ranges(unknown),
                   notes.dash(port, "tx_bytes", first),
                   notes.dash(port, "rx_bytes", first),
                   notes.dash(port, "rx_pause_duration_us", first),
                   "",
                   notes.dash(port, "tx_pause_duration_us", first)});
  }
}

TextTable port_table() {
  return TextTable({{.title = "port", .overflow = Overflow::truncate},
                    {.title = "CE", .unit = "/s", .align = Align::right},
                    {.title = "CNP sent", .unit = "/s", .align = Align::right},
                    {.title = "handled", .unit = "/s", .align = Align::right},
                    {.title = "ignored", .align = Align::right},
                    {.title = "out of seq", .unit = "packets", .align = Align::right},
                    {.title = "seq NAKs", .unit = "packets", .align = Align::right},
                    {.title = "timeouts", .align = Align::right},
                    {.title = "discards", .unit = "packets", .align = Align::right},
                    {.title = "PCIe stall rd", .unit = "%", .align = Align::right},
                    {.title = "wr", .unit = "%", .align = Align::right}});
}

void add_port(TextTable& table, const PortDelta& port, Footnotes& notes) {
  table.add_row({{port.port, Paint::strong},
                 per_second(port, "rx_ce_packets", notes),
                 per_second(port, "cnp_sent", notes),
                 per_second(port, "cnp_handled", notes),
                 count(port, "cnp_ignored", {}, notes, true),
                 count(port, "out_of_sequence", {}, notes, true),
                 count(port, "sequence_naks_received", {}, notes, true),
                 count(port, "ack_timeouts", {}, notes, true),
                 count(port, "rx_discards_phy", {}, notes, true),
                 percent_level(port, "pci_stalled_read_percent", notes),
                 percent_level(port, "pci_stalled_write_percent", notes)});
}

TextTable raw_table(const std::vector<RawCounter>& raw) {
  TextTable table({{.title = "port"},
                   {.title = "source"},
                   {.title = "NIC's own counter"},
                   {.title = "value", .align = Align::right},
                   {.title = "increment", .align = Align::right}});
  for (const RawCounter& counter : raw) {
    table.add_row({{counter.port, Paint::strong},
                   std::string(enum_name(counter.source)),
                   counter.name,
                   std::to_string(counter.value),
                   counter.increment ? TextTable::Cell(std::to_string(*counter.increment))
                                     : TextTable::Cell("– " + counter.increment.error().why, Paint::faint)});
  }
  return table;
}

}  // namespace

std::string to_table(const WatchFrame& frame, std::string_view time, const TextTable::Look& look) {
  std::string out = fmt::format("{}  over {}", time, span_text(frame.interval.elapsed));
  if (frame.effective > frame.wanted) {
    out += fmt::format("  every {}, not {}: reading takes {}", to_text(frame.effective),
                       to_text(frame.wanted), to_text(frame.typical_read_time));
  }
  out += "\n";
  Footnotes notes;
  TextTable priorities = priority_table();
  TextTable ports = port_table();
  for (const PortDelta& port : frame.interval.ports) {
    add_priorities(priorities, port, notes);
    add_port(ports, port, notes);
  }
  out += priorities.text(look) + "\n" + ports.text(look);
  if (!frame.raw.empty()) out += "\n" + raw_table(frame.raw).text(look);
  return out + notes.text(look.coloured);
}

}  // namespace rocetune::counters
