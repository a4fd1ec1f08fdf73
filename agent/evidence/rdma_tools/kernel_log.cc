#include "agent/evidence/rdma_tools/kernel_log.h"

#include <algorithm>

#include "agent/evidence/rdma_tools/kernel_phrases.h"
#include "agent/evidence/rdma_tools/scan.h"
#include "agent/evidence/words.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace kernel_log_text {
namespace {

constexpr std::size_t kTextKept = 240;
constexpr std::size_t kMostDevices = 1024;

constexpr std::array<std::string_view, 24> kAnchors{"] ",
                                                    "kernel:",
                                                    "mlx5_core ",
                                                    "mlx4_core ",
                                                    "mlx5_ib",
                                                    "bnxt_en ",
                                                    "bnxt_re",
                                                    "infiniband ",
                                                    "DMAR:",
                                                    "AMD-Vi:",
                                                    "AER:",
                                                    "pcieport ",
                                                    "nvidia_peermem",
                                                    "nvidia-peermem",
                                                    "irdma",
                                                    "qedr",
                                                    "PCIe Bus Error",
                                                    "available PCIe",
                                                    "GID add failed",
                                                    "ib_core",
                                                    "disagrees about",
                                                    "Unknown symbol",
                                                    "Link is",
                                                    "arm-smmu"};

struct Stamped {
  std::string_view text;         // behind the time stamp
  std::optional<double> time_s;  // since boot
};

// "[    8.387840] text", also "<6>[ 8.3] text". UCX stamps its lines with the seconds of the epoch.
std::optional<Stamped> by_seconds(std::string_view text) {
  if (text.starts_with('<')) {
    const auto end = text.find('>');
    if (end > 4) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  if (!text.starts_with('[')) return std::nullopt;
  const auto close = text.find(']');
  if (close < 4 || close > 24) return std::nullopt;
  const std::string_view inside = trimmed(text.substr(1, close - 1));
  const auto dot = inside.find('.');
  if (dot == std::string_view::npos || dot == 0 || inside.size() - dot < 4) return std::nullopt;
  if (!std::all_of(inside.begin(), inside.end(), [](char c) { return is_digit(c) || c == '.'; }))
    return std::nullopt;
  const auto seconds = leading_number<double>(inside);
  if (!seconds || *seconds > 1e9) return std::nullopt;
  std::string_view rest = trimmed(text.substr(close + 1));
  // "[T1234]" or "[ C3]" of printk with callers.
  if (rest.starts_with("[T") || rest.starts_with("[C") || rest.starts_with("[ ")) {
    const auto end = rest.find(']');
    if (end < 16) rest = trimmed(rest.substr(end + 1));
  }
  if (rest.starts_with('[')) return std::nullopt;  // "[host:pid:thread]": another program's log
  return Stamped{rest, seconds};
}

// "[Mon Nov 30 10:00:00 2026] text" of dmesg -T.
std::optional<Stamped> by_wall_clock(std::string_view text) {
  if (text.size() < 27 || text[0] != '[' || text[25] != ']' || text[14] != ':' || text[17] != ':')
    return std::nullopt;
  static constexpr std::array<std::string_view, 7> kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  if (std::find(kDays.begin(), kDays.end(), text.substr(1, 3)) == kDays.end()) return std::nullopt;
  return Stamped{trimmed(text.substr(26)), std::nullopt};
}

// "Nov 30 10:00:00 host kernel: text", "2026-11-30T10:00:00.0+00:00 host kernel: [ 8.3] text".
std::optional<Stamped> by_syslog(std::string_view text, std::string_view& host) {
  const auto at = text.find(" kernel: ");
  if (at > 120 || at < 8) return std::nullopt;
  if (!is_digit(text[0]) && (text[0] < 'A' || text[0] > 'Z')) return std::nullopt;
  const auto begin = text.rfind(' ', at - 1);
  host = begin == std::string_view::npos ? std::string_view() : text.substr(begin + 1, at - begin - 1);
  const std::string_view rest = trimmed(text.substr(at + 9));
  if (const auto stamped = by_seconds(rest)) return stamped;
  return Stamped{rest, std::nullopt};
}

bool is_drivers(std::string_view text) {
  static constexpr std::array<std::string_view, 18> kBegins{
      "mlx5_core ",  "mlx4_core ", "mlx5_ib", "mlx4_ib",   "bnxt_en ",       "bnxt_re",
      "infiniband ", "DMAR:",      "AMD-Vi:", "pcieport ", "nvidia_peermem", "nvidia-peermem",
      "irdma",       "qedr",       "ib_core", "ice ",      "arm-smmu",       "mlx5_core:"};
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [&](std::string_view word) { return text.starts_with(word); });
}

std::optional<Stamped> stamped(std::string_view text, std::string_view& host) {
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  if (auto found = by_seconds(text)) return found;
  if (auto found = by_wall_clock(text)) return found;
  if (auto found = by_syslog(text, host)) return found;
  // Without any stamp: a driver's line, or one of which no other log could be.
  const auto kind = kernel_event_of(text);
  if (!kind || text.find("NCCL") != std::string_view::npos) return std::nullopt;
  const bool unmistakable = is_drivers(text) || *kind == KernelEvent::pcie_bandwidth ||
                            *kind == KernelEvent::iommu_fault || *kind == KernelEvent::gid_refused ||
                            *kind == KernelEvent::aer_corrected || *kind == KernelEvent::aer_uncorrected;
  if (!unmistakable) return std::nullopt;
  return Stamped{text, std::nullopt};
}

bool begins(const Line& line, const Context&) {
  std::string_view host;
  return stamped(line.text, host).has_value();
}

// The bytes behind "00000030:" or in four words: "00000000 02005104 09000ac5 0000d3d2".
std::vector<std::uint8_t> dump_row(std::string_view text) {
  std::vector<std::uint8_t> out;
  std::string digits;
  const auto colon = text.find(": ");
  if (colon <= 8) text.remove_prefix(colon + 1);
  for (const char c : text) {
    if (c == ' ') continue;
    if (!is_hex_digit(c) || digits.size() >= 32) return {};
    digits += c;
  }
  if (digits.size() != 32) return {};
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    out.push_back(static_cast<std::uint8_t>(*hex_number(digits.substr(i, 2))));
  }
  return out;
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    std::string_view host;
    const auto found = stamped(line.text, host);
    if (!found) {
      // Rows of a dump whose stamps were cut off.
      const std::string_view text = trimmed(line.text);
      const bool taken = dump_rows_left_ > 0 && take_dump_row(text, line.number);
      return taken || is_drivers(text) || take_wrapped_gid(text) ? Verdict::mine : Verdict::not_mine;
    }
    if (prompts_.is_other_host() || (!host.empty() && !host_.empty() && host != host_))
      return Verdict::next_document;
    if (!host.empty()) host_ = host;
    any_ = true;
    if (dump_rows_left_ > 0 && take_dump_row(found->text, line.number)) return Verdict::mine;
    if (const auto kind = kernel_event_of(found->text)) note(*kind, *found, line.number);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (!any_) return std::nullopt;
    Document document;
    if (!host_.empty()) document.host = host_;
    add_facts(document);
    host::Host host;
    if (!log_.hypervisor.empty()) host.hypervisor = log_.hypervisor;
    if (!log_.iommu.empty()) host.iommu = log_.iommu;
    if (host.hypervisor || host.iommu) document.host_part = std::move(host);
    document.content = std::move(log_);
    return document;
  }

 private:
  void note(KernelEvent kind, const Stamped& stamped, int line) {
    KernelEvents& events = log_.events[static_cast<std::size_t>(kind)];
    ++events.count;
    const std::string_view device = kernel_device_of(stamped.text, kind);
    if (events.lines.size() < kKernelLinesKept) {
      events.lines.push_back(
          {line, stamped.time_s, std::string(device), std::string(stamped.text.substr(0, kTextKept))});
    }
    switch (kind) {
      case KernelEvent::pcie_bandwidth:
        take_bandwidth(stamped.text, device, line);
        break;
      case KernelEvent::link_up:
      case KernelEvent::link_down:
        take_link(kind, stamped, device, line);
        break;
      case KernelEvent::hypervisor:
        take_hypervisor(stamped.text);
        break;
      case KernelEvent::iommu_mode:
        log_.iommu =
            stamped.text.find("Passthrough") != std::string_view::npos ? "passthrough" : "translating";
        break;
      case KernelEvent::error_completion:
        if (!log_.completion) {
          dump_rows_left_ = 4;
          dump_line_ = line;
        }
        break;
      default:
        break;
    }
  }

  // "fe80:...:b31b error=-22": mail wraps it away from "unable to add gid".
  bool take_wrapped_gid(std::string_view text) {
    KernelEvents& refused = log_.events[static_cast<std::size_t>(KernelEvent::gid_refused)];
    if (!text.starts_with("fe80:") || text.find(" error=") == std::string_view::npos || refused.lines.empty())
      return false;
    KernelLine& last = refused.lines.back();
    if (last.text.ends_with("gid")) last.text += " " + std::string(text.substr(0, kTextKept));
    return true;
  }

  // "63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0001:42:01.0 (capable of
  // 126.016 Gb/s with 8.0 GT/s PCIe x16 link)"; without a limit: "126.016 Gb/s available PCIe bandwidth (8.0
  // GT/s PCIe x16 link)".
  void take_bandwidth(std::string_view text, std::string_view device, int line) {
    const auto unit = text.find(" Gb/s available PCIe bandwidth");
    if (unit == std::string_view::npos) return;
    const auto begin = text.rfind(' ', unit == 0 ? 0 : unit - 1);
    const auto available =
        leading_number<double>(text.substr(begin == std::string_view::npos ? 0 : begin, unit));
    if (!available) return;
    PcieBandwidth out{std::string(device), *available, *available, {}, {}, line};
    if (const auto capable = text.find("(capable of "); capable != std::string_view::npos) {
      out.capable_gbps = leading_number<double>(text.substr(capable + 12)).value_or(*available);
    }
    if (const auto limited = text.find("limited by "); limited != std::string_view::npos) {
      const std::string_view rest = text.substr(limited + 11);
      const auto at = rest.find(" link at ");
      if (at != std::string_view::npos) {
        out.limited_by = rest.substr(0, at + 5);
        out.limited_at = rest.substr(at + 9, rest.find(' ', at + 9) - (at + 9));
      }
    }
    for (PcieBandwidth& known : log_.bandwidths) {
      if (known.device == out.device) {  // the driver was loaded again
        known = std::move(out);
        return;
      }
    }
    if (log_.bandwidths.size() < kMostDevices) log_.bandwidths.push_back(std::move(out));
  }

  void take_link(KernelEvent kind, const Stamped& stamped, std::string_view device, int line) {
    if (log_.flaps.size() >= kMostDevices && !log_.flaps.contains(std::string(device))) return;
    LinkFlaps& port = log_.flaps[std::string(device)];
    if (kind == KernelEvent::link_up) {
      port.is_up = true;
      return;
    }
    if (port.is_up) {
      if (port.flaps++ == 0) {
        port.first_line = line;
        port.first_text = stamped.text.substr(0, kTextKept);
      }
    }
    port.is_up = false;
  }

  void take_hypervisor(std::string_view text) {
    for (const std::string_view mark : {"detected: ", "kernel on "}) {
      const auto at = text.find(mark);
      if (at == std::string_view::npos) continue;
      const auto words = host::words(text.substr(at + mark.size()));
      if (!words.empty()) log_.hypervisor = words[0];
    }
  }

  // Byte 54: vendor syndrome, 55: syndrome, 57..59: queue pair (struct mlx5_err_cqe, linux/mlx5/device.h).
  bool take_dump_row(std::string_view text, int line) {
    // "infiniband mlx5_0: 00000030: ..." is how some kernels print them.
    if (const auto at = text.find("000000"); at != std::string_view::npos && at > 0 && text[at - 1] == ' ' &&
                                             text.substr(0, at).find(':') != std::string_view::npos) {
      text = text.substr(at);
    }
    const auto row = dump_row(text);
    if (row.empty()) {
      dump_rows_left_ = line - dump_line_ > 8 ? 0 : dump_rows_left_;
      return false;
    }
    if (--dump_rows_left_ > 0) return true;
    log_.completion = DumpedCompletion{
        row[7], row[6], static_cast<unsigned>(row[9]) << 16 | static_cast<unsigned>(row[10]) << 8 | row[11],
        dump_line_};
    return true;
  }

  void add_facts(Document& document) const {
    for (const PcieBandwidth& b : log_.bandwidths) {
      // The narrowest if several devices have the line.
      const bool narrowest =
          std::all_of(log_.bandwidths.begin(), log_.bandwidths.end(), [&](const PcieBandwidth& o) {
            return o.available_gbps / o.capable_gbps >= b.available_gbps / b.capable_gbps;
          });
      if (!narrowest || b.capable_gbps <= 0) continue;
      document.add_fact("pcie.available_Gbps", b.available_gbps);
      document.add_fact("pcie.capable_Gbps", b.capable_gbps);
      break;
    }
    if (log_.completion) {
      document.add_fact("cqe.syndrome", log_.completion->syndrome);
      document.add_fact("cqe.vendor_syndrome", log_.completion->vendor_syndrome);
      document.add_fact("cqe.qpn", log_.completion->qpn);
    }
  }

  KernelLog log_;
  PromptWatch prompts_;
  std::string host_;
  bool any_ = false;
  int dump_rows_left_ = 0;
  int dump_line_ = 0;
};

}  // namespace
}  // namespace kernel_log_text

Format kernel_log_format() {
  return {.name = "dmesg",
          .anchors = kernel_log_text::kAnchors,
          .begins = kernel_log_text::begins,
          .open = open_reader<kernel_log_text::Reader>};
}

}  // namespace rocetune::evidence
