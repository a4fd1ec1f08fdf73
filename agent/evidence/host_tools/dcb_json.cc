#include "agent/evidence/host_tools/dcb_json.h"

#include <boost/json.hpp>

#include <array>

#include "agent/evidence/host_tools/dcb_port.h"
#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

using JsonObject = boost::json::object;

const boost::json::array* list_in(const JsonObject& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_array();
}

std::optional<std::int64_t> whole_number(const boost::json::value& value) {
  if (value.is_int64()) return value.get_int64();
  return std::nullopt;
}

// Eight numbers of 0..limit.
template <class Each>
bool for_eight(const boost::json::array& list, std::int64_t limit, Each each) {
  if (list.size() != 8) return false;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto number = whole_number(list[i]);
    if (!number || *number < 0 || *number > limit) return false;
    each(i, *number);
  }
  return true;
}

bool read_pfc(const JsonObject& object, DcbPort& port) {
  const boost::json::array* flags = list_in(object, "prio_pfc");
  if (flags == nullptr || flags->size() != 8) return false;
  PrioritySet enabled;
  for (std::size_t p = 0; p < 8; ++p) {
    if (!(*flags)[p].is_bool()) return false;
    if ((*flags)[p].get_bool()) enabled = enabled.with(Priority(static_cast<int>(p)));
  }
  host::Pfc pfc;
  pfc.enabled = enabled;
  const auto number = [&](std::string_view key, std::int64_t limit) -> std::int64_t {
    const boost::json::value* value = object.if_contains(key);
    const auto found = value == nullptr ? std::nullopt : whole_number(*value);
    return found && *found >= 0 && *found <= limit ? *found : 0;
  };
  pfc.capable = static_cast<std::uint8_t>(number("pfc_cap", 8));
  pfc.delay = static_cast<std::uint16_t>(number("delay", 65535));
  if (const boost::json::value* bypass = object.if_contains("macsec_bypass");
      bypass != nullptr && bypass->is_bool()) {
    pfc.macsec_bypass = bypass->get_bool();
  }
  bool counts = false;
  const auto read_counts = [&](std::string_view key, std::array<std::uint64_t, 8>& into) {
    const boost::json::array* list = list_in(object, key);
    if (list == nullptr) return;
    counts |= for_eight(*list, INT64_MAX, [&](std::size_t p, std::int64_t count) {
      into[p] = static_cast<std::uint64_t>(count);
    });
  };
  read_counts("requests", pfc.requests);
  read_counts("indications", pfc.indications);
  port.pfc() = pfc;
  port.note(DcbObject::pfc);
  if (counts) port.note_pfc_counts();
  return true;
}

std::optional<host::Tsa> json_tsa_of(const boost::json::value& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = value.get_string();
  if (text == "strict") return host::Tsa::strict;
  if (text == "cbs") return host::Tsa::credit_based;
  if (text == "ets") return host::Tsa::ets;
  if (text == "vendor") return host::Tsa::vendor;
  return std::nullopt;
}

bool read_ets(const JsonObject& object, DcbPort& port) {
  const boost::json::array* classes = list_in(object, "prio_tc");
  const boost::json::array* algorithms = list_in(object, "tc_tsa");
  if (classes == nullptr || algorithms == nullptr || algorithms->size() != 8) return false;
  host::Ets ets;
  if (!for_eight(*classes, 7, [&](std::size_t p, std::int64_t tc) {
        ets.tc_of_priority[p] = TrafficClass(static_cast<int>(tc));
      })) {
    return false;
  }
  for (std::size_t tc = 0; tc < 8; ++tc) {
    const auto tsa = json_tsa_of((*algorithms)[tc]);
    if (!tsa) return false;
    ets.tsa[tc] = *tsa;
  }
  if (const boost::json::array* shares = list_in(object, "tc_bw")) {
    for_eight(*shares, 100, [&](std::size_t tc, std::int64_t percent) {
      ets.tx_share_percent[tc] = static_cast<std::uint8_t>(percent);
    });
  }
  if (const boost::json::value* willing = object.if_contains("willing");
      willing != nullptr && willing->is_bool()) {
    ets.willing = willing->get_bool();
  }
  port.ets() = ets;
  port.note(DcbObject::ets);
  return true;
}

struct JsonTable {
  std::string_view key;
  host::AppSelector selector;
};
constexpr JsonTable kJsonTables[] = {
    {"dscp_prio", host::AppSelector::dscp},       {"ethtype_prio", host::AppSelector::ethertype},
    {"stream_port_prio", host::AppSelector::tcp}, {"dgram_port_prio", host::AppSelector::udp},
    {"port_prio", host::AppSelector::any_port},   {"pcp_prio", host::AppSelector::pcp}};

// [[26, 3], ["CS6", 6]]
bool read_app_table(const boost::json::array& list, host::AppSelector selector,
                    std::vector<host::AppEntry>& out) {
  for (const boost::json::value& element : list) {
    const boost::json::array* pair = element.if_array();
    if (pair == nullptr || pair->size() != 2) return false;
    std::optional<std::int64_t> protocol = whole_number((*pair)[0]);
    if ((*pair)[0].is_string() && selector == host::AppSelector::dscp) {
      if (const auto dscp = dscp_of(std::string_view((*pair)[0].get_string()))) protocol = dscp->value();
    }
    const auto priority = whole_number((*pair)[1]);
    if (!protocol || *protocol < 0 || *protocol > 65535 || !priority || !Priority::is_valid(*priority))
      return false;
    if (selector == host::AppSelector::dscp && !Dscp::is_valid(*protocol)) return false;
    out.push_back({selector, static_cast<std::uint16_t>(*protocol), Priority(static_cast<int>(*priority))});
  }
  return true;
}

bool read_app(const JsonObject& object, DcbPort& port) {
  bool found = object.if_contains("default_prio") != nullptr;
  std::vector<host::AppEntry> entries;
  for (const JsonTable& table : kJsonTables) {
    const boost::json::array* list = list_in(object, table.key);
    if (list == nullptr) continue;
    if (!read_app_table(*list, table.selector, entries)) return false;
    found = true;
  }
  if (!found) return false;
  port.app() = std::move(entries);
  port.note(DcbObject::app);
  return true;
}

bool read_buffer(const JsonObject& object, DcbPort& port) {
  const boost::json::array* map = list_in(object, "prio_buffer");
  const boost::json::array* sizes = list_in(object, "buffer_size");
  if (map == nullptr || sizes == nullptr) return false;
  host::PortBuffers buffers;
  const bool ok = for_eight(*map, 7,
                            [&](std::size_t p, std::int64_t buffer) {
                              buffers.buffer_of_priority[p] = static_cast<std::uint8_t>(buffer);
                            }) &&
                  for_eight(*sizes, INT32_MAX, [&](std::size_t i, std::int64_t size) {
                    buffers.size[i] = Bytes(size);
                    buffers.total += Bytes(size);
                  });
  if (!ok) return false;
  if (const boost::json::value* total = object.if_contains("total_size")) {
    if (const auto size = whole_number(*total); size && *size >= 0) buffers.total = Bytes(*size);
  }
  port.buffers() = buffers;
  port.note(DcbObject::buffer);
  return true;
}

// {"host": true, "ieee": true}
bool read_dcbx(const JsonObject& object, DcbPort& port) {
  host::DcbxMode mode;
  if (object.empty()) return false;
  for (const auto& [key, value] : object) {
    bool* const flag = key == "host"                                  ? &mode.host
                       : key == "lld_managed" || key == "lld-managed" ? &mode.lld_managed
                       : key == "cee"                                 ? &mode.cee
                       : key == "ieee"                                ? &mode.ieee
                       : key == "static"                              ? &mode.is_static
                                                                      : nullptr;
    if (flag == nullptr || !value.is_bool()) return false;
    *flag = value.get_bool();
  }
  port.dcb().dcbx = mode;
  port.note(DcbObject::dcbx);
  return true;
}

bool read_maxrate(const JsonObject& object, DcbPort& port) {
  const boost::json::array* rates = list_in(object, "tc_maxrate");
  if (rates == nullptr || rates->size() != 8) return false;
  std::array<BitRate, 8> out{};
  // dcb_maxrate.c prints bytes a second.
  if (!for_eight(*rates, 1'000'000'000'000,
                 [&](std::size_t tc, std::int64_t rate) { out[tc] = BitRate(rate * 8); })) {
    return false;
  }
  port.dcb().max_rate = out;
  port.note(DcbObject::maxrate);
  return true;
}

// "app" of "hostB.app.json", "dcb-app.json".
std::optional<DcbObject> object_of_file(std::string_view file) {
  std::string_view name = file.substr(file.rfind('/') + 1);
  std::optional<DcbObject> out;
  while (!name.empty()) {
    const auto end = std::min(name.find_first_of("._-"), name.size());
    if (!out) out = dcb_object_named(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return out;
}

}  // namespace

std::optional<Document> dcb_from_json(const boost::json::value& json, const Context& context) {
  const boost::json::object* object = json.if_object();
  if (object == nullptr) return std::nullopt;
  DcbPort port{
      std::string(calls(context.command, "dcb") ? option_value(context.command, "dev") : std::string_view())};
  if (object->empty()) {
    auto named = object_of_file(context.file);
    if (calls(context.command, "dcb")) {
      for (const std::string_view word : command_words(context.command)) {
        if (const auto shown = dcb_object_named(word)) named = shown;
      }
    }
    if (!named) return std::nullopt;
    port.note(*named);
    if (*named == DcbObject::app) port.app();
    return port.finish();
  }
  if (!read_pfc(*object, port) && !read_ets(*object, port) && !read_app(*object, port) &&
      !read_buffer(*object, port) && !read_maxrate(*object, port) && !read_dcbx(*object, port)) {
    return std::nullopt;
  }
  return port.finish();
}

}  // namespace rocetune::evidence
