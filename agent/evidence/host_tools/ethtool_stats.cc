#include "agent/evidence/host_tools/ethtool_stats.h"

#include <fmt/core.h>

#include <array>
#include <unordered_set>

#include "agent/evidence/host_tools/rdma_counter_names.h"
#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kStatisticsTitle = "NIC statistics";
constexpr std::size_t kMostStatistics =
    200000;  // of one document: 4 per queue of 1024, several hundred of a port

struct Statistic {
  std::string_view name;
  std::uint64_t value = 0;
};

// "rx_prio3_pause: 12", "[0]: rx_discards: 3" (one per ring), "rxq0: rx_drops: 0".
std::optional<Statistic> statistic_of(std::string_view line) {
  line = trimmed(line);
  const auto colon = line.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto value = count_of(trimmed(line.substr(colon + 1)));
  if (!value) return std::nullopt;
  const std::string_view name = trimmed(line.substr(0, colon));
  if (name.size() > 64) return std::nullopt;
  return Statistic{name, *value};
}

// The part behind "[0]: " or "rxq12: ".
std::string_view without_ring(std::string_view name) {
  const auto colon = name.find(": ");
  return colon > 8 ? name : trimmed(name.substr(colon + 2));
}

class EthtoolStatsReader : public DocumentReader {
 public:
  explicit EthtoolStatsReader(const Context& context)
      : device_(interface_of_ethtool(context.command)), from_command_(!device_.empty()) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return take_command(line.text);
    const std::string_view text = trimmed(line.text);
    if (text.starts_with(kStatisticsTitle)) {
      if (titled_ || !document_.counters.empty()) return Verdict::next_document;
      titled_ = true;
      // "NIC statistics for eth0:" of some wrappers.
      const std::string_view named = interface_in_title(text, "NIC statistics for ");
      if (!named.empty()) device_ = named;
      return Verdict::mine;
    }
    const auto statistic = statistic_of(text);
    if (!statistic || document_.counters.size() >= kMostStatistics) return Verdict::not_mine;
    if (is_rdma_counter(statistic->name)) return Verdict::not_mine;
    if (!titled_ && !is_ethtool_statistic(statistic->name)) return Verdict::not_mine;
    if (titled_ && !is_made_of(statistic->name, "_.-[]: ()/")) return Verdict::not_mine;
    std::string name(statistic->name);
    if (!seen_.insert(name).second) return Verdict::next_document;  // the next snapshot, or another interface
    document_.counters.push_back({device_, std::move(name), statistic->value, line.number});
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (document_.counters.empty()) return std::nullopt;
    add_pause_facts("tx");
    add_pause_facts("rx");
    add_lane_facts();
    return std::move(document_);
  }

 private:
  // Another interface's statistics begin; the command itself belongs to them.
  Verdict take_command(std::string_view command) {
    if (!calls(command, "ethtool") || document_.counters.empty()) return Verdict::not_mine;
    const std::string_view device = interface_of_ethtool(command);
    const bool is_statistics =
        option_value(command, "-S") == device || option_value(command, "--statistics") == device;
    return is_statistics && device != device_ ? Verdict::next_document : Verdict::not_mine;
  }

  void add_pause_facts(std::string_view side) {
    const Counter* duration = document_.find_counter(fmt::format("{}_global_pause_duration", side));
    const Counter* frames = document_.find_counter(fmt::format("{}_global_pause", side));
    if (duration == nullptr) return;
    const auto us = static_cast<double>(duration->value);
    document_.add_fact(fmt::format("pause.{}_global_s", side), us / 1e6);
    if (frames != nullptr && frames->value > 0) {
      document_.add_fact(fmt::format("pause.{}_global_mean_us", side),
                         us / static_cast<double>(frames->value));
    }
  }

  // Bits that FEC corrected, per lane of the port.
  void add_lane_facts() {
    int worst = -1;
    std::uint64_t most = 0;
    double sum = 0;
    for (int lane = 0; lane < 16; ++lane) {
      const Counter* bits = document_.find_counter(fmt::format("rx_err_lane_{}_phy", lane));
      if (bits == nullptr) bits = document_.find_counter(fmt::format("rx_err_lane_{}", lane));
      if (bits == nullptr) continue;
      sum += static_cast<double>(bits->value);
      if (bits->value > most) {
        most = bits->value;
        worst = lane;
      }
    }
    if (worst < 0) return;
    document_.add_fact("link.worst_lane", worst);
    document_.add_fact("link.worst_lane_share", static_cast<double>(most) / sum);
  }

  std::string device_;
  bool from_command_;
  bool titled_ = false;
  std::unordered_set<std::string> seen_;
  Document document_;
};

bool begins_statistics(const Line& line, const Context&) {
  if (line.is_command) return false;
  const std::string_view text = trimmed(line.text);
  if (text.starts_with(kStatisticsTitle)) return text.ends_with(':');
  const auto statistic = statistic_of(text);
  return statistic && is_ethtool_statistic(statistic->name) && !is_rdma_counter(statistic->name);
}

}  // namespace

bool is_ethtool_statistic(std::string_view name) {
  name = without_ring(name);
  if (!is_made_of(name, "_.-[]")) return false;
  // Names of mlx5, mlx4, bnxt, ice, i40e, ixgbe, ionic, be2net, bnx2x, virtio: Linux drivers/net/ethernet.
  for (const std::string_view prefix : {"rx_",
                                        "tx_",
                                        "rx-",
                                        "tx-",
                                        "rx[",
                                        "tx[",
                                        "rx0_",
                                        "tx0_",
                                        "port.rx_",
                                        "port.tx_",
                                        "port.link_",
                                        "port.rx-",
                                        "outbound_pci_",
                                        "link_down_events",
                                        "pfc_pri",
                                        "frames_rx_",
                                        "frames_tx_",
                                        "octets_rx_",
                                        "octets_tx_",
                                        "link_xo",
                                        "dev_internal_queue_oob",
                                        "dev_out_of_buffer",
                                        "pci_bw_",
                                        "module_bus_stuck",
                                        "module_high_temp",
                                        "module_bad_shorted",
                                        "module_unplug",
                                        "hw_rx_",
                                        "hw_tx_",
                                        "veb.",
                                        "vport_rx_",
                                        "vport_tx_",
                                        "rxq",
                                        "txq"}) {
    if (name.starts_with(prefix)) return name.size() > prefix.size() || prefix.size() > 8;
  }
  // "rx12_packets", "ch3_poll" of one queue.
  if ((name.starts_with("rx") || name.starts_with("tx") || name.starts_with("ch")) && name.size() > 4) {
    std::size_t at = 2;
    while (at < name.size() && name[at] >= '0' && name[at] <= '9') ++at;
    return at > 2 && at + 1 < name.size() && name[at] == '_';
  }
  return false;
}

Format ethtool_stats_format() {
  static constexpr std::string_view kAnchors[] = {kStatisticsTitle,
                                                  "rx_",
                                                  "tx_",
                                                  "rx-",
                                                  "tx-",
                                                  "outbound_pci_",
                                                  "link_down_events",
                                                  "pfc_pri",
                                                  "frames_",
                                                  "octets_rx",
                                                  "link_xo",
                                                  "dev_internal_queue_oob",
                                                  "dev_out_of_buffer",
                                                  "pci_bw_",
                                                  "module_",
                                                  "_packets: ",
                                                  "hw_rx_",
                                                  "port.link",
                                                  "rx[",
                                                  "tx["};
  return {.name = "ethtool-stats",
          .anchors = kAnchors,
          .begins = begins_statistics,
          .open = open_reader<EthtoolStatsReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
