// Data center bridging by rtnetlink: RTM_GETDCB and RTM_SETDCB (include/uapi/linux/dcbnl.h, net/dcb/dcbnl.c).
// Codec functions are pure on bytes; DcbSocket is the conversation.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/knob.h"
#include "agent/host/model.h"
#include "agent/host/netlink.h"

namespace rocetune::host {

// The recommended half of struct ieee_ets: what this port tells its peer by DCBX, no influence on itself.
struct EtsRecommendation {
  std::array<TrafficClass, 8> tc_of_priority{};
  std::array<Tsa, 8> tsa{};
  std::array<std::uint8_t, 8> tx_share_percent{};
  bool operator==(const EtsRecommendation&) const = default;
};

// What DCB_CMD_IEEE_GET says about one port.
struct IeeeReply {
  std::string port;
  Dcb dcb;                                          // what the driver does not implement is absent
  std::optional<EtsRecommendation> recommendation;  // with ets
};

// One DCB_CMD_IEEE_SET: everything present is sent in one message. The kernel applies ETS, MAXRATE, PFC,
// buffers, app entries in this order and stops at the first error: it is NOT atomic, read everything back.
// One message is at most one link bounce on drivers that reset the link when PFC changes.
struct IeeeChange {
  std::optional<EtsSetting> ets;
  EtsRecommendation recommendation;  // sent with ets
  std::optional<PfcSetting> pfc;
  bool macsec_bypass = false;  // sent with pfc (mbc)
  std::optional<BufferSetting> buffers;
  std::vector<AppEntry> app;                       // entries to add
  std::optional<std::array<BitRate, 8>> max_rate;  // per TC, whole kb/s; 0 = unlimited
  bool is_empty() const { return !ets && !pfc && !buffers && app.empty() && !max_rate; }
};

// ---- codec ----

NetlinkRequest ieee_get_request(const std::string& port);
NetlinkRequest ieee_set_request(const std::string& port, const IeeeChange& change);
NetlinkRequest ieee_del_request(const std::string& port, const std::vector<AppEntry>& entries);
NetlinkRequest dcbx_get_request(const std::string& port);
NetlinkRequest dcbx_set_request(const std::string& port, const DcbxMode& mode);

// `payload` is what follows nlmsghdr. Errors: io for a message that is no DCB reply or whose structs are cut
// short. Priorities and TCs out of 0..7 and unknown TSAs make their attribute *failed*, not the whole reply.
Expected<IeeeReply> parse_ieee_reply(ByteSpan payload);
Expected<DcbxMode> parse_dcbx_reply(ByteSpan payload);
// The result code that set and delete carry in their reply: DCB_ATTR_IEEE or DCB_ATTR_DCBX as u8, the errno
// negated and cut to 8 bits; setdcbx drivers answer 1 for "refused" without an errno.
Expected<> parse_ieee_result(ByteSpan payload);
Expected<> parse_dcbx_result(ByteSpan payload);

std::uint8_t dcbx_bits(const DcbxMode& mode);
DcbxMode dcbx_mode(std::uint8_t bits);

// ---- conversation ----

class DcbSocket {
 public:
  static Expected<DcbSocket> open();

  // IEEE state and DCBX mode of one port. Errors: absent if there is no such port, unsupported if its driver
  // has no DCB operations.
  Expected<Dcb> read(const std::string& port);

  // Sends `change` in one message. What the model does not carry (ETS recommendation, macsec bypass) is kept
  // as it is on the port. Errors: as the kernel or the driver answered; parts before the failing one are in
  // force.
  Expected<> set(const std::string& port, IeeeChange change);
  // Deletes app entries; an entry that is not there is an error (absent).
  Expected<> remove(const std::string& port, const std::vector<AppEntry>& entries);
  Expected<> set_dcbx(const std::string& port, const DcbxMode& mode);

 private:
  explicit DcbSocket(NetlinkSocket socket) : socket_(std::move(socket)) {}
  Expected<NetlinkReply> exchange(const NetlinkRequest& request);

  NetlinkSocket socket_;
};

}  // namespace rocetune::host
