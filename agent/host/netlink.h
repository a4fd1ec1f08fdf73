// Netlink messages as bytes, and one socket to exchange them. Codecs (dcb_netlink, route_netlink, ...) build
// requests and parse replies without a socket; only NetlinkSocket talks to the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dataplane/base/error.h"

struct mnl_socket;

namespace rocetune::host {

using ByteSpan = std::span<const std::byte>;

// One attribute: struct nlattr without its padding.
struct NetlinkAttribute {
  std::uint16_t type = 0;  // without NLA_F_NESTED and NLA_F_NET_BYTEORDER
  ByteSpan payload;

  // The payload's first bytes as T (host byte order), or nothing if it is shorter. Longer payloads are fine:
  // a newer kernel may append members to a struct.
  template <class T>
  std::optional<T> as() const;
  // An integer of whatever width the kernel chose: 1, 2, 4 or 8 bytes.
  std::optional<std::uint64_t> as_integer() const;
  // Text up to the first NUL or the end.
  std::string as_string() const;
};

// Calls visit for each attribute of `payload`; stops at the first that does not fit. False if bytes of a
// malformed attribute were left over.
bool for_each_attribute(ByteSpan payload, const std::function<void(const NetlinkAttribute&)>& visit);
// The first attribute of this type, if any.
std::optional<NetlinkAttribute> find_attribute(ByteSpan payload, std::uint16_t type);

// The first bytes of `bytes` as T, or nothing if there are fewer.
template <class T>
std::optional<T> read_struct(ByteSpan bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T out;
  __builtin_memcpy(&out, bytes.data(), sizeof(T));
  return out;
}
template <class T>
std::optional<T> NetlinkAttribute::as() const {
  return read_struct<T>(payload);
}

// The first attribute of this type as T, if there is one of that size.
template <class T>
std::optional<T> attribute_as(ByteSpan payload, std::uint16_t type) {
  const auto found = find_attribute(payload, type);
  return found ? found->as<T>() : std::nullopt;
}

// A request being built: nlmsghdr, then a family header, then attributes. At most kCapacity bytes: putting
// more is a programmer's mistake and asserts.
class NetlinkRequest {
 public:
  static constexpr std::size_t kCapacity = 16 * 1024;
  // `flags` beside NLM_F_REQUEST, e.g. NLM_F_ACK or NLM_F_DUMP.
  NetlinkRequest(std::uint16_t type, std::uint16_t flags);

  template <class T>
  NetlinkRequest& header(const T& family_header) {
    static_assert(std::is_trivially_copyable_v<T>);
    return raw_header(&family_header, sizeof family_header);
  }
  template <class T>
  NetlinkRequest& put(std::uint16_t type, const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T>);
    return raw_attribute(type, &value, sizeof value);
  }
  NetlinkRequest& put_string(std::uint16_t type, std::string_view text);  // with its NUL
  NetlinkRequest& begin_nest(std::uint16_t type, bool with_nested_flag = true);
  NetlinkRequest& end_nest();

  std::uint16_t type() const;
  // The whole message, nlmsghdr included; sequence number and port are 0 until it is sent.
  ByteSpan bytes() const;

 private:
  NetlinkRequest& raw_header(const void* data, std::size_t size);
  NetlinkRequest& raw_attribute(std::uint16_t type, const void* data, std::size_t size);
  void update_length();

  std::vector<std::byte> buffer_;
  std::vector<std::size_t> open_nests_;
};

// A reply: what follows nlmsghdr.
struct NetlinkReply {
  std::uint16_t type = 0;
  std::vector<std::byte> payload;
};

// Parses every reply of a dump with `parse`: ByteSpan -> Expected<T>.
template <class T>
Expected<std::vector<T>> parse_replies(const Expected<std::vector<NetlinkReply>>& replies,
                                       Expected<T> (*parse)(ByteSpan)) {
  if (!replies) return tl::unexpected(replies.error());
  std::vector<T> out;
  for (const NetlinkReply& reply : *replies) {
    auto entry = parse(reply.payload);
    if (!entry) return tl::unexpected(entry.error());
    out.push_back(std::move(*entry));
  }
  return out;
}
// Parses the only reply of a request. Error: io if there is none.
template <class T>
Expected<T> parse_reply(const Expected<std::vector<NetlinkReply>>& replies, Expected<T> (*parse)(ByteSpan)) {
  if (!replies) return tl::unexpected(replies.error());
  if (replies->empty()) return fail(ErrorKind::io, "netlink: no reply");
  return parse(replies->front().payload);
}

// The replies of one exchange out of a datagram as received. `complete` is set when the exchange ended (DONE,
// ACK). Messages of another sequence number are skipped. Errors: the kernel's error of this request with its
// extended text; io for a datagram that makes no sense; conflict for an interrupted dump (ask again).
Expected<> parse_datagram(ByteSpan datagram, std::uint32_t sequence, std::vector<NetlinkReply>& replies,
                          bool& complete);

// A netlink socket in the network namespace of the thread that opened it; it stays there.
class NetlinkSocket {
 public:
  static Expected<NetlinkSocket> open(int protocol);  // NETLINK_ROUTE, NETLINK_RDMA, NETLINK_GENERIC

  // Sends `request` (NLM_F_ACK is added unless it is a dump) and returns all its replies. An interrupted dump
  // is asked again up to kDumpAttempts times. Errors: as the kernel answered; io "timed out" after kTimeout.
  Expected<std::vector<NetlinkReply>> exchange(const NetlinkRequest& request);

  static constexpr int kDumpAttempts = 5;
  static constexpr int kTimeoutSeconds = 10;  // RDMA statistics wait for firmware; nothing sane takes longer

 private:
  struct Closer {
    void operator()(mnl_socket* socket) const;
  };
  explicit NetlinkSocket(mnl_socket* socket) : socket_(socket) {}
  Expected<std::vector<NetlinkReply>> exchange_once(std::vector<std::byte>& message);

  std::unique_ptr<mnl_socket, Closer> socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace rocetune::host
