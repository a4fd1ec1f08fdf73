#include "agent/evidence/rdma_tools/ibv_devinfo.h"

#include <algorithm>
#include <array>

#include "agent/evidence/rdma_tools/rdma_view.h"
#include "agent/evidence/rdma_tools/scan.h"
#include "agent/host/gid_address.h"

namespace rocetune::evidence {
namespace ibv_devinfo_text {
namespace {

constexpr std::size_t kMostPorts = 4096;
constexpr std::size_t kMostGids = 1 << 16;

constexpr std::array<std::string_view, 14> kAnchors{
    "hca_id",    "GID[",          "active_mtu:", "max_mtu:",  "link_layer:", "PORT_",           "phys_state:",
    "port_lid:", "active_speed:", "gid_tbl_len", "board_id:", "node_guid:",  "sys_image_guid:", "transport:"};

// Keys that ibv_devinfo has alone. A document begins with one of these; the other keys are taken once it has.
constexpr std::array<std::string_view, 13> kBegins{
    "hca_id",       "active_mtu",  "max_mtu",  "link_layer", "phys_state",     "port_lid", "active_speed",
    "active_width", "gid_tbl_len", "board_id", "node_guid",  "sys_image_guid", "transport"};
constexpr std::array<std::string_view, 47> kKnown{"fw_ver",
                                                  "vendor_id",
                                                  "vendor_part_id",
                                                  "hw_ver",
                                                  "phys_port_cnt",
                                                  "port",
                                                  "state",
                                                  "sm_lid",
                                                  "port_lmc",
                                                  "page_size_cap",
                                                  "device_cap_flags",
                                                  "device_cap_flags_ex",
                                                  "atomic_cap",
                                                  "atomic",
                                                  "local_ca_ack_delay",
                                                  "subnet_timeout",
                                                  "init_type_reply",
                                                  "bad_pkey_cntr",
                                                  "qkey_viol_cntr",
                                                  "sm_sl",
                                                  "pkey_tbl_len",
                                                  "port_cap_flags",
                                                  "port_cap_flags2",
                                                  "num_comp_vectors",
                                                  "hca_core_clock",
                                                  "general_odp_caps",
                                                  "rc_odp_caps",
                                                  "uc_odp_caps",
                                                  "ud_odp_caps",
                                                  "xrc_odp_caps",
                                                  "dc_odp_caps",
                                                  "tso_caps",
                                                  "rss_caps",
                                                  "packet_pacing_caps",
                                                  "tag_matching_caps",
                                                  "tm_caps",
                                                  "cq_moderation_caps",
                                                  "raw packet caps",
                                                  "pci_atomic_caps",
                                                  "fetch_add",
                                                  "swap",
                                                  "compare_swap",
                                                  "supported_qp",
                                                  "completion_timestamp_mask",
                                                  "hca_core_clock_khz",
                                                  "Device ports",
                                                  "device_attr"};
constexpr std::array<std::string_view, 6> kPrefixes{"max_", "rx_hash_", "qp_rate_limit_",
                                                    "tso_", "num_comp", "gid_"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// "GID[  3]:  ::ffff:10.0.0.1, RoCE v2"; old: "GID[  3]:  fe80:...".
std::optional<host::Gid> gid_of(std::string_view text) {
  if (!text.starts_with("GID[")) return std::nullopt;
  const auto close = text.find("]:");
  if (close == std::string_view::npos) return std::nullopt;
  const auto index = whole_number<int>(text.substr(4, close - 4), 0, 1 << 20);
  if (!index) return std::nullopt;
  const auto [address, type] = split_at(text.substr(close + 2), ',');
  const auto normal = host::normal_gid_address(address);
  if (!normal) return std::nullopt;
  host::Gid gid;
  gid.index = *index;
  gid.address = *normal;
  if (type.ends_with("RoCE v2")) gid.type = host::GidType::roce_v2;
  if (type.ends_with("RoCE v1")) gid.type = host::GidType::roce_v1;
  if (type == "IB") gid.type = host::GidType::ib;
  return gid;
}

bool begins(const Line& line, const Context&) {
  const std::string_view text = trimmed(line.text);
  if (gid_of(text)) return true;
  const auto [key, value] = split_at(text, ':');
  if (value.empty()) return false;
  if (key == "state") return value.starts_with("PORT_");
  if (!is_one_of(key, kBegins)) return false;
  // Others have some of these words: they write them otherwise.
  if (key == "link_layer") return value == "Ethernet" || value == "InfiniBand";
  if (key == "transport") return value.ends_with(')');
  if (key.ends_with("_mtu") || key.starts_with("active_") || key == "phys_state") return value.ends_with(')');
  return true;
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (text.empty()) return Verdict::not_mine;
    if (auto gid = gid_of(text)) {
      if (prompts_.is_other_host()) return Verdict::next_document;
      take_gid(std::move(*gid), line.number);
      return Verdict::mine;
    }
    const auto [key, value] = split_at(text, ':');
    if (key == "hca_id") {
      if (prompts_.is_other_host()) return Verdict::next_document;
      begin_device(value, line.number);
      return Verdict::mine;
    }
    if (is_one_of(key, kBegins) || is_one_of(key, kKnown)) {
      if (text.find(':') == std::string_view::npos)
        return is_caption(text) ? Verdict::mine : Verdict::not_mine;
      // ibstat and ibstatus have "state:" and "Port 1:" of their own.
      if (key == "state" && !value.starts_with("PORT_")) return Verdict::not_mine;
      if (key == "port" && !whole_number<int>(value, 1, 255)) return Verdict::not_mine;
      take_value(key, value, line.number);
      return Verdict::mine;
    }
    if (is_devinfo_row(key, text)) return Verdict::mine;
    return Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (!said_something_) return std::nullopt;
    view_.ports.erase(std::remove_if(view_.ports.begin(), view_.ports.end(),
                                     [](const RdmaPortView& p) { return p.line == 0; }),
                      view_.ports.end());
    return document_of(std::move(view_));
  }

 private:
  static bool is_caption(std::string_view text) {
    return text == "device_cap_flags_ex" || text.ends_with("not supported");
  }

  // Rows of -v that nothing is derived from: flags, limits, "NO SUPPORT".
  static bool is_devinfo_row(std::string_view key, std::string_view text) {
    for (const std::string_view prefix : kPrefixes) {
      if (key.starts_with(prefix) && text.find(':') != std::string_view::npos) return true;
    }
    if (text == "NO SUPPORT" || text == "SUPPORT" || text.starts_with("Unknown flags:") ||
        text.starts_with("tag matching not supported") || text.starts_with("core clock not supported") ||
        text.starts_with("completion_timestamp_mask")) {
      return true;
    }
    return text.size() >= 3 && std::all_of(text.begin(), text.end(), [](char c) {
             return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
           });
  }

  void begin_device(std::string_view name, int line) {
    device_ = RdmaPortView();
    device_.rdma.device = name;
    device_.vendor = vendor_of_device(name);
    device_.line = line;
    port_begun_ = false;
    said_something_ = true;
    add_port(1, line);
  }

  void add_port(int number, int line) {
    if (view_.ports.size() >= kMostPorts) return;
    RdmaPortView port = device_;
    port.rdma.port = number;
    port.line = line;
    view_.ports.push_back(std::move(port));
  }

  RdmaPortView& port() {
    if (view_.ports.empty()) view_.ports.emplace_back();
    return view_.ports.back();
  }

  void take_gid(host::Gid gid, int line) {
    if (host::is_empty_gid(gid.address)) return;
    said_something_ = true;
    // Lines alone, of one device after the other: the index begins anew.
    if (device_.rdma.device.empty() && !port().rdma.gids.empty() &&
        gid.index <= port().rdma.gids.back().index) {
      add_port(1, line);
    }
    if (port().rdma.gids.size() >= kMostGids) return;
    if (port().line == 0) port().line = line;
    port().rdma.gids.push_back(std::move(gid));
    port().gid_lines.push_back(line);
  }

  // Of a device: for its ports to come too.
  template <class Set>
  void set_for_device(Set set) {
    set(device_);
    set(port());
  }

  void take_value(std::string_view key, std::string_view value, int line) {
    said_something_ = true;
    if (key == "port") {
      const int number = *whole_number<int>(value, 1, 255);
      if (port_begun_) {
        add_port(number, line);
      } else {
        port().rdma.port = number;
      }
      port_begun_ = true;
    } else if (key == "node_guid") {
      set_for_device([&](RdmaPortView& p) { p.rdma.node_guid = normal_guid(value); });
    } else if (key == "sys_image_guid") {
      set_for_device([&](RdmaPortView& p) {
        p.rdma.system_image_guid = normal_guid(value);
        p.guid_line = line;
      });
    } else if (key == "fw_ver") {
      set_for_device([&](RdmaPortView& p) {
        if (!value.empty()) p.rdma.firmware = std::string(value);
        p.firmware_line = line;
      });
    } else if (key == "board_id") {
      set_for_device([&](RdmaPortView& p) { p.psid = value; });
    } else if (key == "vendor_part_id") {
      set_for_device([&](RdmaPortView& p) { p.part = value; });
    } else if (key == "vendor_id") {
      const std::string vendor = vendor_of_id(value);
      set_for_device([&](RdmaPortView& p) {
        if (p.vendor.empty()) p.vendor = vendor;  // a name knows better: mlx4 has mlx5's vendor id
      });
    } else {
      take_port_value(key, value, line);
    }
    if (port().line == 0) port().line = line;
  }

  static std::string vendor_of_id(std::string_view id) {
    if (id == "0x02c9" || id == "0x2c9" || id == "0x15b3") return "mlx5";
    if (id == "0x14e4") return "bnxt";
    if (id == "0x8086") return "irdma";
    if (id == "0x1077") return "qedr";
    if (id == "0x1dd8") return "ionic";
    if (id == "0xffffff") return "rxe";
    return {};
  }

  void take_port_value(std::string_view key, std::string_view value, int line) {
    RdmaPortView& p = port();
    if (key == "state") {
      p.rdma.state = port_state(value);
      p.state_line = line;
    } else if (key == "phys_state") {
      p.rdma.physical_state = std::string(value.substr(0, value.find(' ')));
    } else if (key == "active_mtu" || key == "max_mtu") {
      const auto bytes = whole_number<int>(value.substr(0, value.find(' ')), 256, 65536);
      if (!bytes) return;
      (key == "active_mtu" ? p.rdma.active_mtu : p.rdma.max_mtu) = Bytes(*bytes);
      if (key == "active_mtu") p.mtu_line = line;
    } else if (key == "link_layer") {
      p.rdma.link_layer = link_layer(value);
      p.layer_line = line;
    } else if (key == "port_lid") {
      p.lid = leading_number<std::uint64_t>(value);
    } else if (key == "active_width") {
      width_ = value;
    } else if (key == "active_speed") {
      p.rdma.rate = rate_of_lanes(width_, value);
      p.rate_line = line;
    }
  }

  RdmaView view_;
  RdmaPortView device_;  // what holds for all ports of the device
  std::string width_;
  PromptWatch prompts_;
  bool port_begun_ = false;
  bool said_something_ = false;
};

}  // namespace
}  // namespace ibv_devinfo_text

Format ibv_devinfo_format() {
  return {.name = "ibv-devinfo",
          .anchors = ibv_devinfo_text::kAnchors,
          .begins = ibv_devinfo_text::begins,
          .open = open_reader<ibv_devinfo_text::Reader>};
}

}  // namespace rocetune::evidence
