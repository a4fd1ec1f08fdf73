#include "agent/host/dcb_netlink.h"

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace rocetune::host {
namespace {

// Newer than the headers of Debian 12 (6.1): enum ieee_attrs and enum ieee_attrs_app of Linux 6.2 and 6.3.
constexpr std::uint16_t kAppTrustTable = 11;  // DCB_ATTR_DCB_APP_TRUST_TABLE
constexpr std::uint16_t kNonStandardApp = 2;  // DCB_ATTR_DCB_APP: selectors outside 802.1Qaz, i.e. PCP

constexpr std::string_view kNotInDriver = "the driver has no such DCB operation";

NetlinkRequest dcb_request(std::uint16_t type, std::uint8_t command, const std::string& port) {
  NetlinkRequest request(type, 0);
  request.header(dcbmsg{.dcb_family = AF_UNSPEC, .cmd = command, .dcb_pad = 0});
  request.put_string(DCB_ATTR_IFNAME, port);
  return request;
}

bool is_standard(AppSelector selector) { return selector != AppSelector::pcp; }

void put_app_table(NetlinkRequest& request, const std::vector<AppEntry>& entries) {
  request.begin_nest(DCB_ATTR_IEEE_APP_TABLE);
  for (const AppEntry& entry : entries) {
    request.put(is_standard(entry.selector) ? std::uint16_t{DCB_ATTR_IEEE_APP} : kNonStandardApp,
                dcb_app{.selector = static_cast<std::uint8_t>(entry.selector),
                        .priority = static_cast<std::uint8_t>(entry.priority.value()),
                        .protocol = entry.protocol});
  }
  request.end_nest();
}

ieee_ets to_wire(const EtsSetting& setting, const EtsRecommendation& recommendation) {
  ieee_ets out{};
  out.willing = setting.willing ? 1 : 0;
  for (std::size_t i = 0; i < 8; ++i) {
    out.prio_tc[i] = static_cast<std::uint8_t>(setting.tc_of_priority[i].value());
    out.tc_tsa[i] = static_cast<std::uint8_t>(setting.tsa[i]);
    out.tc_tx_bw[i] = setting.tx_share_percent[i];
    out.tc_rx_bw[i] = setting.rx_share_percent[i];
    out.reco_prio_tc[i] = static_cast<std::uint8_t>(recommendation.tc_of_priority[i].value());
    out.tc_reco_tsa[i] = static_cast<std::uint8_t>(recommendation.tsa[i]);
    out.tc_reco_bw[i] = recommendation.tx_share_percent[i];
  }
  return out;
}

std::optional<Tsa> tsa_of(std::uint8_t wire) {
  for (const Tsa known : {Tsa::strict, Tsa::credit_based, Tsa::ets, Tsa::vendor}) {
    if (static_cast<std::uint8_t>(known) == wire) return known;
  }
  return std::nullopt;
}

Observed<Ets> ets_of(const ieee_ets& wire) {
  Ets out{.willing = wire.willing != 0, .tc_count = wire.ets_cap, .credit_based = wire.cbs != 0};
  for (std::size_t i = 0; i < 8; ++i) {
    const auto tsa = tsa_of(wire.tc_tsa[i]);
    if (!TrafficClass::is_valid(wire.prio_tc[i])) {
      return failed(fmt::format("priority {} is on traffic class {}", i, wire.prio_tc[i]));
    }
    if (!tsa) return failed(fmt::format("traffic class {} has unknown algorithm {}", i, wire.tc_tsa[i]));
    out.tc_of_priority[i] = TrafficClass(wire.prio_tc[i]);
    out.tsa[i] = *tsa;
    out.tx_share_percent[i] = wire.tc_tx_bw[i];
    out.rx_share_percent[i] = wire.tc_rx_bw[i];
  }
  return out;
}

std::optional<EtsRecommendation> recommendation_of(const ieee_ets& wire) {
  EtsRecommendation out;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto tsa = tsa_of(wire.tc_reco_tsa[i]);
    if (!TrafficClass::is_valid(wire.reco_prio_tc[i]) || !tsa) return std::nullopt;
    out.tc_of_priority[i] = TrafficClass(wire.reco_prio_tc[i]);
    out.tsa[i] = *tsa;
    out.tx_share_percent[i] = wire.tc_reco_bw[i];
  }
  return out;
}

Pfc pfc_of(const ieee_pfc& wire) {
  Pfc out{.enabled = PrioritySet(wire.pfc_en),
          .capable = wire.pfc_cap,
          .macsec_bypass = wire.mbc != 0,
          .delay = wire.delay};
  std::copy_n(wire.requests, 8, out.requests.begin());
  std::copy_n(wire.indications, 8, out.indications.begin());
  return out;
}

PortBuffers buffers_of(const dcbnl_buffer& wire) {
  PortBuffers out{.total = Bytes(wire.total_size)};
  for (std::size_t i = 0; i < 8; ++i) {
    out.buffer_of_priority[i] = wire.prio2buffer[i];
    out.size[i] = Bytes(wire.buffer_size[i]);
  }
  return out;
}

// Entries with a selector we have no name for are left out: the table is for RoCE's classes.
Observed<std::vector<AppEntry>> app_table_of(ByteSpan nest) {
  std::vector<AppEntry> out;
  bool sane = true;
  const bool whole = for_each_attribute(nest, [&](const NetlinkAttribute& attribute) {
    if (attribute.type != DCB_ATTR_IEEE_APP && attribute.type != kNonStandardApp) return;
    const auto app = attribute.as<dcb_app>();
    if (!app || !Priority::is_valid(app->priority)) {
      sane = false;
      return;
    }
    for (const auto& [selector, name] : EnumNames<AppSelector>::names) {
      if (static_cast<std::uint8_t>(selector) == app->selector) {
        out.push_back({selector, app->protocol, Priority(app->priority)});
      }
    }
  });
  if (!whole || !sane) return failed("malformed app table");
  std::sort(out.begin(), out.end());
  return out;
}

// The most trusted selector comes first.
Observed<Trust> trust_of(ByteSpan nest) {
  Observed<Trust> out = absent("the port trusts no selector");
  for_each_attribute(nest, [&](const NetlinkAttribute& attribute) {
    const auto selector = attribute.as<std::uint8_t>();
    if (out || !selector) return;
    if (*selector == static_cast<std::uint8_t>(AppSelector::dscp)) out = Trust::dscp;
    if (*selector == static_cast<std::uint8_t>(AppSelector::pcp)) out = Trust::pcp;
  });
  return out;
}

Observed<std::array<BitRate, 8>> max_rate_of(const ieee_maxrate& wire) {
  std::array<BitRate, 8> out{};
  for (std::size_t i = 0; i < 8; ++i) {
    if (wire.tc_maxrate[i] > static_cast<std::uint64_t>(INT64_MAX / 1000)) {
      return failed(fmt::format("traffic class {} limited to {} kb/s", i, wire.tc_maxrate[i]));
    }
    out[i] = bits_per_second(static_cast<std::int64_t>(wire.tc_maxrate[i]) * 1000);
  }
  return out;
}

// Reads struct T of `attribute` and converts it; failed if it is cut short.
template <class Out, class T>
Observed<Out> observed_struct(const NetlinkAttribute& attribute, Out (*of)(const T&)) {
  const auto wire = attribute.as<T>();
  if (!wire)
    return failed(fmt::format("DCB attribute {} of {} bytes", attribute.type, attribute.payload.size()));
  return of(*wire);
}
template <class Out, class T>
Observed<Out> observed_struct(const NetlinkAttribute& attribute, Observed<Out> (*of)(const T&)) {
  const auto wire = attribute.as<T>();
  if (!wire)
    return failed(fmt::format("DCB attribute {} of {} bytes", attribute.type, attribute.payload.size()));
  return of(*wire);
}

void read_ieee_attribute(const NetlinkAttribute& attribute, IeeeReply& reply) {
  Dcb& dcb = reply.dcb;
  switch (attribute.type) {
    case DCB_ATTR_IEEE_ETS:
      dcb.ets = observed_struct(attribute, ets_of);
      if (const auto wire = attribute.as<ieee_ets>()) reply.recommendation = recommendation_of(*wire);
      break;
    case DCB_ATTR_IEEE_PFC:
      dcb.pfc = observed_struct(attribute, pfc_of);
      break;
    case DCB_ATTR_IEEE_APP_TABLE:
      dcb.app = app_table_of(attribute.payload);
      break;
    case DCB_ATTR_IEEE_PEER_ETS:
      dcb.peer_ets = observed_struct(attribute, ets_of);
      break;
    case DCB_ATTR_IEEE_PEER_PFC:
      dcb.peer_pfc = observed_struct(attribute, pfc_of);
      break;
    case DCB_ATTR_IEEE_PEER_APP:
      dcb.peer_app = app_table_of(attribute.payload);
      break;
    case DCB_ATTR_IEEE_MAXRATE:
      dcb.max_rate = observed_struct(attribute, max_rate_of);
      break;
    case DCB_ATTR_DCB_BUFFER:
      dcb.buffers = observed_struct(attribute, buffers_of);
      break;
    case kAppTrustTable:
      dcb.trust = trust_of(attribute.payload);
      break;
    default:
      break;
  }
}

Expected<ByteSpan> attributes_of(ByteSpan payload) {
  if (payload.size() < sizeof(dcbmsg)) {
    return fail(ErrorKind::io, "DCB reply of {} bytes", payload.size());
  }
  return payload.subspan(sizeof(dcbmsg));
}

Expected<std::uint8_t> result_byte(ByteSpan payload, std::uint16_t type) {
  return attributes_of(payload).and_then([type](ByteSpan attributes) -> Expected<std::uint8_t> {
    const auto found = find_attribute(attributes, type);
    const auto code = found ? found->as<std::uint8_t>() : std::nullopt;
    if (!code) return fail(ErrorKind::io, "DCB reply without a result");
    return *code;
  });
}

}  // namespace

NetlinkRequest ieee_get_request(const std::string& port) {
  return dcb_request(RTM_GETDCB, DCB_CMD_IEEE_GET, port);
}

NetlinkRequest ieee_set_request(const std::string& port, const IeeeChange& change) {
  NetlinkRequest request = dcb_request(RTM_SETDCB, DCB_CMD_IEEE_SET, port);
  request.begin_nest(DCB_ATTR_IEEE);
  if (change.ets) request.put(DCB_ATTR_IEEE_ETS, to_wire(*change.ets, change.recommendation));
  if (change.max_rate) {
    ieee_maxrate wire{};
    for (std::size_t i = 0; i < 8; ++i) {
      wire.tc_maxrate[i] = static_cast<std::uint64_t>((*change.max_rate)[i].bits_per_second() / 1000);
    }
    request.put(DCB_ATTR_IEEE_MAXRATE, wire);
  }
  if (change.pfc) {
    ieee_pfc wire{};
    wire.pfc_en = change.pfc->enabled.mask();
    wire.mbc = change.macsec_bypass ? 1 : 0;
    wire.delay = change.pfc->delay;
    request.put(DCB_ATTR_IEEE_PFC, wire);
  }
  if (change.buffers) {
    dcbnl_buffer wire{};
    for (std::size_t i = 0; i < 8; ++i) {
      wire.prio2buffer[i] = change.buffers->buffer_of_priority[i];
      wire.buffer_size[i] = static_cast<std::uint32_t>(change.buffers->size[i].count());
    }
    request.put(DCB_ATTR_DCB_BUFFER, wire);
  }
  if (!change.app.empty()) put_app_table(request, change.app);
  request.end_nest();
  return request;
}

NetlinkRequest ieee_del_request(const std::string& port, const std::vector<AppEntry>& entries) {
  NetlinkRequest request = dcb_request(RTM_SETDCB, DCB_CMD_IEEE_DEL, port);
  request.begin_nest(DCB_ATTR_IEEE);
  put_app_table(request, entries);
  request.end_nest();
  return request;
}

NetlinkRequest dcbx_get_request(const std::string& port) {
  return dcb_request(RTM_GETDCB, DCB_CMD_GDCBX, port);
}

NetlinkRequest dcbx_set_request(const std::string& port, const DcbxMode& mode) {
  NetlinkRequest request = dcb_request(RTM_SETDCB, DCB_CMD_SDCBX, port);
  request.put(DCB_ATTR_DCBX, dcbx_bits(mode));
  return request;
}

std::uint8_t dcbx_bits(const DcbxMode& mode) {
  return static_cast<std::uint8_t>(
      (mode.host ? DCB_CAP_DCBX_HOST : 0) | (mode.lld_managed ? DCB_CAP_DCBX_LLD_MANAGED : 0) |
      (mode.cee ? DCB_CAP_DCBX_VER_CEE : 0) | (mode.ieee ? DCB_CAP_DCBX_VER_IEEE : 0) |
      (mode.is_static ? DCB_CAP_DCBX_STATIC : 0));
}

DcbxMode dcbx_mode(std::uint8_t bits) {
  return {.host = (bits & DCB_CAP_DCBX_HOST) != 0,
          .lld_managed = (bits & DCB_CAP_DCBX_LLD_MANAGED) != 0,
          .cee = (bits & DCB_CAP_DCBX_VER_CEE) != 0,
          .ieee = (bits & DCB_CAP_DCBX_VER_IEEE) != 0,
          .is_static = (bits & DCB_CAP_DCBX_STATIC) != 0};
}

Expected<IeeeReply> parse_ieee_reply(ByteSpan payload) {
  const auto attributes = attributes_of(payload);
  if (!attributes) return tl::unexpected(attributes.error());
  IeeeReply reply;
  const auto missing = absent(std::string(kNotInDriver));
  Dcb& dcb = reply.dcb;
  dcb.dcbx = missing;
  dcb.pfc = missing;
  dcb.ets = missing;
  dcb.app = missing;
  dcb.trust = absent("the driver does not report trust (no DCB_ATTR_DCB_APP_TRUST_TABLE)");
  dcb.buffers = missing;
  dcb.max_rate = missing;
  const auto no_peer = absent("no DCBX peer information");
  dcb.peer_pfc = no_peer;
  dcb.peer_ets = no_peer;
  dcb.peer_app = no_peer;

  bool whole = true;
  const bool outer_whole = for_each_attribute(*attributes, [&](const NetlinkAttribute& attribute) {
    if (attribute.type == DCB_ATTR_IFNAME) reply.port = attribute.as_string();
    if (attribute.type == DCB_ATTR_DCBX) {
      if (const auto bits = attribute.as<std::uint8_t>()) dcb.dcbx = dcbx_mode(*bits);
    }
    if (attribute.type == DCB_ATTR_IEEE) {
      whole = for_each_attribute(attribute.payload,
                                 [&](const NetlinkAttribute& inner) { read_ieee_attribute(inner, reply); });
    }
  });
  if (!whole || !outer_whole) return fail(ErrorKind::io, "malformed DCB reply");
  return reply;
}

Expected<DcbxMode> parse_dcbx_reply(ByteSpan payload) {
  return result_byte(payload, DCB_ATTR_DCBX).map(dcbx_mode);
}

Expected<> parse_ieee_result(ByteSpan payload) {
  const auto code = result_byte(payload, DCB_ATTR_IEEE);
  if (!code) return tl::unexpected(code.error());
  if (*code == 0) return {};
  return fail_os(256 - *code, "the driver refused the DCB change");
}

Expected<> parse_dcbx_result(ByteSpan payload) {
  const auto code = result_byte(payload, DCB_ATTR_DCBX);
  if (!code) return tl::unexpected(code.error());
  if (*code == 0) return {};
  return fail(ErrorKind::unsupported, "the driver refused this DCBX mode (result {})", *code);
}

Expected<DcbSocket> DcbSocket::open() {
  return NetlinkSocket::open(NETLINK_ROUTE).map([](NetlinkSocket socket) {
    return DcbSocket(std::move(socket));
  });
}

Expected<NetlinkReply> DcbSocket::exchange(const NetlinkRequest& request) {
  auto replies = socket_.exchange(request);
  if (!replies) return tl::unexpected(replies.error());
  if (replies->empty()) return fail(ErrorKind::io, "no DCB reply");
  return std::move(replies->front());
}

Expected<Dcb> DcbSocket::read(const std::string& port) {
  const auto context = [&](const Error& error) { return error.within(fmt::format("DCB of {}", port)); };
  auto ieee = exchange(ieee_get_request(port)).and_then([](const NetlinkReply& reply) {
    return parse_ieee_reply(reply.payload);
  });
  if (!ieee && ieee.error().kind() == ErrorKind::unsupported) {
    return fail(ErrorKind::unsupported, "the driver of {} has no DCB operations", port);
  }
  if (!ieee) return tl::unexpected(context(ieee.error()));
  return std::move(ieee->dcb);
}

Expected<> DcbSocket::set(const std::string& port, IeeeChange change) {
  ROCETUNE_ASSERT(!change.is_empty());
  const auto context = [&](const Error& error) { return error.within(fmt::format("set DCB of {}", port)); };
  auto before = exchange(ieee_get_request(port)).and_then([](const NetlinkReply& reply) {
    return parse_ieee_reply(reply.payload);
  });
  if (!before) return tl::unexpected(context(before.error()));
  if (before->recommendation) change.recommendation = *before->recommendation;
  if (before->dcb.pfc) change.macsec_bypass = before->dcb.pfc->macsec_bypass;
  return exchange(ieee_set_request(port, change))
      .and_then([](const NetlinkReply& reply) { return parse_ieee_result(reply.payload); })
      .map_error(context);
}

Expected<> DcbSocket::remove(const std::string& port, const std::vector<AppEntry>& entries) {
  ROCETUNE_ASSERT(!entries.empty());
  return exchange(ieee_del_request(port, entries))
      .and_then([](const NetlinkReply& reply) { return parse_ieee_result(reply.payload); })
      .map_error([&](const Error& error) { return error.within(fmt::format("delete DCB app of {}", port)); });
}

Expected<> DcbSocket::set_dcbx(const std::string& port, const DcbxMode& mode) {
  return exchange(dcbx_set_request(port, mode))
      .and_then([](const NetlinkReply& reply) { return parse_dcbx_result(reply.payload); })
      .map_error([&](const Error& error) { return error.within(fmt::format("set DCBX mode of {}", port)); });
}

}  // namespace rocetune::host
