#include "agent/host/rdma_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "agent/host/knob.h"

namespace rocetune::host {
namespace {

constexpr std::string_view kClass = "/sys/class/infiniband";
constexpr std::string_view kEmptyGid = "0000:0000:0000:0000:0000:0000:0000:0000";

// "4: ACTIVE" -> "ACTIVE".
std::string without_number(const std::string& text) {
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

LinkLayer link_layer_of(const std::string& text) {
  if (text == "Ethernet") return LinkLayer::ethernet;
  if (text == "InfiniBand") return LinkLayer::infiniband;
  return LinkLayer::unknown;
}

// The words of gid_attrs/types, e.g. "IB/RoCE v1", "RoCE v2".
GidType gid_type_of(const std::string& text, LinkLayer layer) {
  if (text == "RoCE v2") return GidType::roce_v2;
  if (text == "IB/RoCE v1") return layer == LinkLayer::infiniband ? GidType::ib : GidType::roce_v1;
  return GidType::unknown;
}

// configfs shows rdma_cm's defaults only after somebody made a directory for the device; reading makes none.
void read_cm_defaults(const HostFiles& files, RdmaPort& out) {
  if (!files.exists(kRdmaCm)) {
    const auto why = absent("no configfs for rdma_cm (module rdma_cm not loaded, or configfs not mounted)");
    out.cm_default_tos = why;
    out.cm_default_mode = why;
    return;
  }
  const std::string device = fmt::format("{}/{}", kRdmaCm, out.device);
  if (!files.exists(device)) {
    const auto why = absent(std::string(kHiddenUntilMade));
    out.cm_default_tos = why;
    out.cm_default_mode = why;
    return;
  }
  const std::string port = fmt::format("{}/ports/{}", device, out.port);
  const auto tos = files.integer(port + "/default_roce_tos");
  if (!tos) {
    out.cm_default_tos = unavailable(tos.error());
  } else if (*tos < 0 || *tos > 255) {
    out.cm_default_tos = failed(fmt::format("default_roce_tos is {}", *tos));
  } else {
    out.cm_default_tos = TosByte::from_wire(static_cast<std::uint8_t>(*tos));
  }
  out.cm_default_mode = observed(files.attribute(port + "/default_roce_mode"));
}

// OFED only: "Global tclass=106" or nothing configured.
Observed<TosByte> read_global_traffic_class(const HostFiles& files, const std::string& device, int port) {
  const std::string path = fmt::format("{}/{}/tc/{}/traffic_class", kClass, device, port);
  const auto text = files.text(path);
  if (!text && text.error().kind() == ErrorKind::absent)
    return absent("only NVIDIA's own driver packages (OFED) have tc/");
  if (!text) return unavailable(text.error());
  constexpr std::string_view kKey = "Global tclass=";
  const std::size_t at = text->find(kKey);
  if (at == std::string::npos) return absent("no global traffic class is set");
  int value = 0;
  const char* const begin = text->data() + at + kKey.size();
  const auto [rest, error] = std::from_chars(begin, text->data() + text->size(), value);
  if (error != std::errc() || value < 0 || value > 255) return failed("traffic_class makes no sense");
  return TosByte::from_wire(static_cast<std::uint8_t>(value));
}

}  // namespace

Expected<std::vector<std::string>> rdma_device_names(const HostFiles& files) {
  auto names = files.names(kClass);
  if (!names && names.error().kind() == ErrorKind::absent) return std::vector<std::string>{};
  return names;
}

std::vector<int> rdma_port_numbers(const HostFiles& files, const std::string& device) {
  std::vector<int> out;
  const auto names = files.names(fmt::format("{}/{}/ports", kClass, device));
  if (!names) return out;
  for (const std::string& name : *names) {
    int number = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && number > 0) out.push_back(number);
  }
  std::sort(out.begin(), out.end());
  return out;
}

RdmaPort read_rdma_port(const HostFiles& files, const std::string& device, int port) {
  const std::string device_path = fmt::format("{}/{}", kClass, device);
  const std::string port_path = fmt::format("{}/ports/{}", device_path, port);
  RdmaPort out{.device = device, .port = port};
  if (const auto layer = files.attribute(port_path + "/link_layer")) out.link_layer = link_layer_of(*layer);
  if (const auto state = files.attribute(port_path + "/state")) out.state = without_number(*state);
  if (const auto state = files.attribute(port_path + "/phys_state"))
    out.physical_state = without_number(*state);
  if (const auto rate = files.attribute(port_path + "/rate")) out.rate = parse_rdma_rate(*rate);
  out.node_guid = if_known(files.attribute(device_path + "/node_guid"));
  out.system_image_guid = if_known(files.attribute(device_path + "/sys_image_guid"));
  out.firmware = if_known(files.attribute(device_path + "/fw_ver"));
  if (out.firmware && out.firmware->empty()) out.firmware.reset();
  out.counter_lifespan_ms = observed(files.integer(port_path + "/hw_counters/lifespan"));
  read_cm_defaults(files, out);
  out.global_traffic_class = read_global_traffic_class(files, device, port);
  return out;
}

std::vector<Gid> read_gids(const HostFiles& files, const std::string& device, int port, LinkLayer layer) {
  const std::string port_path = fmt::format("{}/{}/ports/{}", kClass, device, port);
  std::vector<Gid> out;
  const auto slots = files.names(port_path + "/gids");
  if (!slots) return out;
  for (const std::string& slot : *slots) {
    int index = 0;
    const auto [rest, error] = std::from_chars(slot.data(), slot.data() + slot.size(), index);
    const auto address = files.attribute(fmt::format("{}/gids/{}", port_path, slot));
    if (error != std::errc() || !address || *address == kEmptyGid) continue;
    Gid gid{.index = index, .type = GidType::unknown, .address = *address, .netdev = std::nullopt};
    if (const auto type = files.attribute(fmt::format("{}/gid_attrs/types/{}", port_path, slot))) {
      gid.type = gid_type_of(*type, layer);
    }
    gid.netdev = if_known(files.attribute(fmt::format("{}/gid_attrs/ndevs/{}", port_path, slot)));
    out.push_back(std::move(gid));
  }
  std::sort(out.begin(), out.end(), [](const Gid& a, const Gid& b) { return a.index < b.index; });
  return out;
}

bool is_software_rdma(const HostFiles& files, const std::string& device) {
  return files.exists(fmt::format("{}/{}/parent", kClass, device));
}

std::optional<Bytes> roce_mtu_for(Bytes netdev_mtu) {
  constexpr Bytes kHeaders(96);  // GRH 40, UDP 8, BTH 12, largest extensions 32, ICRC 4
  for (const std::int64_t size : {4096, 2048, 1024, 512, 256}) {
    if (netdev_mtu >= Bytes(size) + kHeaders) return Bytes(size);
  }
  return std::nullopt;
}

std::optional<BitRate> parse_rdma_rate(std::string_view text) {
  // Some rates have one decimal ("2.5 Gb/sec"); std::from_chars reads both.
  double gigabits = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), gigabits);
  if (error != std::errc() ||
      !text.substr(static_cast<std::size_t>(rest - text.data())).starts_with(" Gb/sec") ||
      !(gigabits >= 0 && gigabits <= 1e6)) {  // from_chars takes "nan" for a number
    return std::nullopt;
  }
  return bits_per_second(std::llround(gigabits * 10) * 100'000'000);
}

}  // namespace rocetune::host
