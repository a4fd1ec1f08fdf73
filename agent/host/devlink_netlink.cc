#include "agent/host/devlink_netlink.h"

#include <linux/devlink.h>
#include <linux/netlink.h>

#include <algorithm>

namespace rocetune::host {
namespace {

// Types of parameter values as devlink sends them: NLA_U8 and so on of include/net/netlink.h.
enum : std::uint8_t { kTypeFlag = 6, kTypeString = 5 };

std::string text_or_empty(ByteSpan attributes, std::uint16_t type) {
  const auto found = find_attribute(attributes, type);
  return found ? found->as_string() : "";
}

struct DeviceName {
  std::string bus, device;
};
Expected<DeviceName> device_of(ByteSpan attributes) {
  DeviceName out{text_or_empty(attributes, DEVLINK_ATTR_BUS_NAME),
                 text_or_empty(attributes, DEVLINK_ATTR_DEV_NAME)};
  if (out.bus.empty() || out.device.empty()) return fail(ErrorKind::io, "devlink message without a device");
  return out;
}

// The value of one configuration mode; a flag is true by being there.
std::optional<std::string> value_text(std::uint8_t type, ByteSpan value) {
  const auto data = find_attribute(value, DEVLINK_ATTR_PARAM_VALUE_DATA);
  if (type == kTypeFlag) return data ? "true" : "false";
  if (!data) return std::nullopt;
  if (type == kTypeString) return data->as_string();
  const auto number = data->as_integer();
  return number ? std::optional(fmt::format("{}", *number)) : std::nullopt;
}

}  // namespace

Expected<DevlinkEntry> parse_devlink_info(ByteSpan payload) {
  const auto attributes = generic_attributes(payload);
  if (!attributes) return tl::unexpected(attributes.error());
  const auto device = device_of(*attributes);
  if (!device) return tl::unexpected(device.error());
  DevlinkEntry out{.bus = device->bus,
                   .device = device->device,
                   .driver = text_or_empty(*attributes, DEVLINK_ATTR_INFO_DRIVER_NAME)};
  std::map<std::string, std::string> running;
  for_each_attribute(*attributes, [&](const NetlinkAttribute& attribute) {
    const bool is_running = attribute.type == DEVLINK_ATTR_INFO_VERSION_RUNNING;
    if (!is_running && attribute.type != DEVLINK_ATTR_INFO_VERSION_FIXED) return;
    auto& versions = is_running ? running : out.versions;
    versions[text_or_empty(attribute.payload, DEVLINK_ATTR_INFO_VERSION_NAME)] =
        text_or_empty(attribute.payload, DEVLINK_ATTR_INFO_VERSION_VALUE);
  });
  for (auto& [name, value] : running) out.versions[name] = std::move(value);
  return out;
}

Expected<DevlinkParam> parse_devlink_param(ByteSpan payload) {
  const auto attributes = generic_attributes(payload);
  if (!attributes) return tl::unexpected(attributes.error());
  const auto device = device_of(*attributes);
  if (!device) return tl::unexpected(device.error());
  const auto param = find_attribute(*attributes, DEVLINK_ATTR_PARAM);
  if (!param) return fail(ErrorKind::io, "devlink parameter message without a parameter");
  DevlinkParam out{device->bus, device->device, text_or_empty(param->payload, DEVLINK_ATTR_PARAM_NAME),
                   std::nullopt};
  const auto type = attribute_as<std::uint8_t>(param->payload, DEVLINK_ATTR_PARAM_TYPE);
  const auto values = find_attribute(param->payload, DEVLINK_ATTR_PARAM_VALUES_LIST);
  if (!type || !values) return out;
  std::optional<std::string> next_load;
  for_each_attribute(values->payload, [&](const NetlinkAttribute& value) {
    if (value.type != DEVLINK_ATTR_PARAM_VALUE) return;
    const auto mode = attribute_as<std::uint8_t>(value.payload, DEVLINK_ATTR_PARAM_VALUE_CMODE);
    if (mode == DEVLINK_PARAM_CMODE_RUNTIME) out.value = value_text(*type, value.payload);
    if (mode == DEVLINK_PARAM_CMODE_DRIVERINIT) next_load = value_text(*type, value.payload);
  });
  if (!out.value) out.value = next_load;
  return out;
}

Expected<std::string> parse_devlink_eswitch_mode(ByteSpan payload) {
  const auto attributes = generic_attributes(payload);
  if (!attributes) return tl::unexpected(attributes.error());
  const auto mode = attribute_as<std::uint16_t>(*attributes, DEVLINK_ATTR_ESWITCH_MODE);
  if (mode == DEVLINK_ESWITCH_MODE_LEGACY) return "legacy";
  if (mode == DEVLINK_ESWITCH_MODE_SWITCHDEV) return "switchdev";
  if (!mode) return fail(ErrorKind::absent, "the driver does not report an eswitch mode");
  return fail(ErrorKind::io, "devlink: unknown eswitch mode {}", *mode);
}

Expected<DevlinkSocket> DevlinkSocket::open() {
  return GenericNetlinkSocket::open(DEVLINK_GENL_NAME, DEVLINK_GENL_VERSION)
      .map([](GenericNetlinkSocket socket) { return DevlinkSocket(std::move(socket)); });
}

Expected<std::vector<DevlinkEntry>> DevlinkSocket::devices() {
  auto out =
      parse_replies(socket_.exchange(socket_.request(DEVLINK_CMD_INFO_GET, NLM_F_DUMP)), parse_devlink_info);
  if (!out) return tl::unexpected(out.error().within("devlink info"));
  const auto params = parse_replies(socket_.exchange(socket_.request(DEVLINK_CMD_PARAM_GET, NLM_F_DUMP)),
                                    parse_devlink_param);
  if (!params) return tl::unexpected(params.error().within("devlink parameters"));
  for (const DevlinkParam& param : *params) {
    const auto device = std::find_if(out->begin(), out->end(), [&](const DevlinkEntry& entry) {
      return entry.bus == param.bus && entry.device == param.device;
    });
    if (device != out->end() && param.value) device->params[param.name] = *param.value;
  }
  for (DevlinkEntry& device : *out) device.eswitch_mode = eswitch_mode(device);
  return out;
}

Observed<std::string> DevlinkSocket::eswitch_mode(const DevlinkEntry& device) {
  NetlinkRequest request = socket_.request(DEVLINK_CMD_ESWITCH_GET, 0);
  request.put_string(DEVLINK_ATTR_BUS_NAME, device.bus).put_string(DEVLINK_ATTR_DEV_NAME, device.device);
  const auto mode = parse_reply(socket_.exchange(request), parse_devlink_eswitch_mode);
  if (!mode) return unavailable(mode.error().within("devlink eswitch mode"));
  return *mode;
}

}  // namespace rocetune::host
