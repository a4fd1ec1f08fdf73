#include "agent/host/netlink.h"

#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace rocetune::host {
namespace {

constexpr std::size_t aligned(std::size_t size) {
  return (size + NLMSG_ALIGNTO - 1) & ~(NLMSG_ALIGNTO - 1ul);
}

// Offsets inside the request under construction.
nlmsghdr header_of(const std::vector<std::byte>& message) {
  nlmsghdr header;
  std::memcpy(&header, message.data(), sizeof header);
  return header;
}
void set_header(std::vector<std::byte>& message, const nlmsghdr& header) {
  std::memcpy(message.data(), &header, sizeof header);
}

// The kernel's own words about an error, if it sent any (NLMSGERR_ATTR_MSG).
std::string extended_text(const nlmsghdr& header, ByteSpan body) {
  if ((header.nlmsg_flags & NLM_F_ACK_TLVS) == 0) return "";
  const auto error = read_struct<nlmsgerr>(body);
  if (!error) return "";
  // With NETLINK_CAP_ACK or NLM_F_CAPPED only the header of the failed message is echoed.
  std::size_t skip = sizeof(nlmsgerr);
  if ((header.nlmsg_flags & NLM_F_CAPPED) == 0 && error->msg.nlmsg_len >= sizeof(nlmsghdr)) {
    skip += aligned(error->msg.nlmsg_len - sizeof(nlmsghdr));
  }
  if (skip >= body.size()) return "";
  const auto text = find_attribute(body.subspan(skip), NLMSGERR_ATTR_MSG);
  return text ? text->as_string() : "";
}

constexpr int kMostErrno = 4095;  // MAX_ERRNO of include/linux/err.h

// What a reply says went wrong, an errno below zero; `what` says of what.
tl::unexpected<Error> kernel_error(int error, std::string_view what) {
  if (error > 0 || error < -kMostErrno)
    return fail(ErrorKind::io, "netlink: {} is no error of a kernel ({})", error, what);
  return fail_os(-error, "{}", what);
}

Expected<> error_reply(const nlmsghdr& header, ByteSpan body) {
  const auto error = read_struct<int>(body);
  if (!error) return fail(ErrorKind::io, "netlink: error message of {} bytes", body.size());
  if (*error == 0) return {};
  const std::string text = extended_text(header, body);
  return kernel_error(*error, text.empty() ? "the kernel refused" : text);
}

}  // namespace

std::optional<std::uint64_t> NetlinkAttribute::as_integer() const {
  switch (payload.size()) {
    case 1:
      return as<std::uint8_t>();
    case 2:
      return as<std::uint16_t>();
    case 4:
      return as<std::uint32_t>();
    case 8:
      return as<std::uint64_t>();
    default:
      return std::nullopt;
  }
}

std::string NetlinkAttribute::as_string() const {
  const char* text = reinterpret_cast<const char*>(payload.data());
  return {text, strnlen(text, payload.size())};
}

bool for_each_attribute(ByteSpan payload, const std::function<void(const NetlinkAttribute&)>& visit) {
  while (payload.size() >= sizeof(nlattr)) {
    const nlattr head = *read_struct<nlattr>(payload);
    if (head.nla_len < sizeof(nlattr) || head.nla_len > payload.size()) return false;
    visit({static_cast<std::uint16_t>(head.nla_type & NLA_TYPE_MASK),
           payload.subspan(sizeof(nlattr), head.nla_len - sizeof(nlattr))});
    payload = payload.subspan(std::min(aligned(head.nla_len), payload.size()));
  }
  return payload.empty();
}

std::optional<NetlinkAttribute> find_attribute(ByteSpan payload, std::uint16_t type) {
  std::optional<NetlinkAttribute> found;
  for_each_attribute(payload, [&](const NetlinkAttribute& attribute) {
    if (!found && attribute.type == type) found = attribute;
  });
  return found;
}

NetlinkRequest::NetlinkRequest(std::uint16_t type, std::uint16_t flags) : buffer_(sizeof(nlmsghdr)) {
  set_header(buffer_, {.nlmsg_len = sizeof(nlmsghdr),
                       .nlmsg_type = type,
                       .nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags),
                       .nlmsg_seq = 0,
                       .nlmsg_pid = 0});
}

NetlinkRequest& NetlinkRequest::raw_header(const void* data, std::size_t size) {
  ROCETUNE_ASSERT(buffer_.size() == sizeof(nlmsghdr));
  const auto* bytes = static_cast<const std::byte*>(data);
  buffer_.insert(buffer_.end(), bytes, bytes + size);
  buffer_.resize(aligned(buffer_.size()));
  update_length();
  return *this;
}

NetlinkRequest& NetlinkRequest::raw_attribute(std::uint16_t type, const void* data, std::size_t size) {
  ROCETUNE_ASSERT(buffer_.size() + aligned(sizeof(nlattr) + size) <= kCapacity);
  const nlattr head{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + size), .nla_type = type};
  const std::size_t at = buffer_.size();
  buffer_.resize(at + aligned(sizeof(nlattr) + size));
  std::memcpy(buffer_.data() + at, &head, sizeof head);
  if (size > 0) std::memcpy(buffer_.data() + at + sizeof head, data, size);
  update_length();
  return *this;
}

void NetlinkRequest::update_length() {
  nlmsghdr header = header_of(buffer_);
  header.nlmsg_len = static_cast<std::uint32_t>(buffer_.size());
  set_header(buffer_, header);
}

NetlinkRequest& NetlinkRequest::put_string(std::uint16_t type, std::string_view text) {
  const std::string terminated(text);
  return raw_attribute(type, terminated.c_str(), terminated.size() + 1);
}

NetlinkRequest& NetlinkRequest::begin_nest(std::uint16_t type, bool with_nested_flag) {
  open_nests_.push_back(buffer_.size());
  return raw_attribute(with_nested_flag ? static_cast<std::uint16_t>(type | NLA_F_NESTED) : type, nullptr, 0);
}

NetlinkRequest& NetlinkRequest::end_nest() {
  ROCETUNE_ASSERT(!open_nests_.empty());
  const std::size_t at = open_nests_.back();
  open_nests_.pop_back();
  const auto length = static_cast<std::uint16_t>(buffer_.size() - at);
  std::memcpy(buffer_.data() + at + offsetof(nlattr, nla_len), &length, sizeof length);
  return *this;
}

std::uint16_t NetlinkRequest::type() const { return header_of(buffer_).nlmsg_type; }

ByteSpan NetlinkRequest::bytes() const {
  ROCETUNE_ASSERT(open_nests_.empty());
  return buffer_;
}

Expected<> parse_datagram(ByteSpan datagram, std::uint32_t sequence, std::vector<NetlinkReply>& replies,
                          bool& complete) {
  while (!datagram.empty()) {
    const auto header = read_struct<nlmsghdr>(datagram);
    if (!header || header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > datagram.size()) {
      return fail(ErrorKind::io, "netlink: truncated message ({} bytes left)", datagram.size());
    }
    const ByteSpan body = datagram.subspan(sizeof(nlmsghdr), header->nlmsg_len - sizeof(nlmsghdr));
    datagram = datagram.subspan(std::min(aligned(header->nlmsg_len), datagram.size()));
    if (header->nlmsg_seq != sequence) continue;
    if ((header->nlmsg_flags & NLM_F_DUMP_INTR) != 0) {
      return fail(ErrorKind::conflict, "the state changed while it was being listed");
    }
    switch (header->nlmsg_type) {
      case NLMSG_NOOP:
        break;
      case NLMSG_ERROR: {
        complete = true;
        if (auto status = error_reply(*header, body); !status) return status;
        break;
      }
      case NLMSG_DONE: {
        // A dump that failed half-way carries its error here.
        complete = true;
        const auto error = read_struct<int>(body);
        if (error && *error < 0) return kernel_error(*error, "the listing broke off");
        break;
      }
      case NLMSG_OVERRUN:
        return fail(ErrorKind::io, "netlink: data lost");
      default:
        replies.push_back({header->nlmsg_type, {body.begin(), body.end()}});
    }
  }
  return {};
}

void NetlinkSocket::Closer::operator()(mnl_socket* socket) const { mnl_socket_close(socket); }

Expected<NetlinkSocket> NetlinkSocket::open(int protocol) {
  mnl_socket* raw = mnl_socket_open2(protocol, SOCK_CLOEXEC);
  if (raw == nullptr) return fail_os(errno, "netlink protocol {}", protocol);
  NetlinkSocket socket(raw);
  if (mnl_socket_bind(raw, 0, MNL_SOCKET_AUTOPID) < 0) return fail_os(errno, "netlink bind");
  int on = 1;
  // Both only improve error texts; old kernels refuse them and that is fine.
  (void)mnl_socket_setsockopt(raw, NETLINK_EXT_ACK, &on, sizeof on);
  (void)mnl_socket_setsockopt(raw, NETLINK_CAP_ACK, &on, sizeof on);
  const timeval timeout{.tv_sec = kTimeoutSeconds, .tv_usec = 0};
  if (setsockopt(mnl_socket_get_fd(raw), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0) {
    return fail_os(errno, "netlink receive timeout");
  }
  return socket;
}

Expected<std::vector<NetlinkReply>> NetlinkSocket::exchange(const NetlinkRequest& request) {
  const ByteSpan bytes = request.bytes();
  std::vector<std::byte> message(bytes.begin(), bytes.end());
  for (int attempt = 1;; ++attempt) {
    auto replies = exchange_once(message);
    const bool interrupted =
        !replies && replies.error().kind() == ErrorKind::conflict && replies.error().os_error() == 0;
    if (!interrupted || attempt == kDumpAttempts) return replies;
  }
}

Expected<std::vector<NetlinkReply>> NetlinkSocket::exchange_once(std::vector<std::byte>& message) {
  nlmsghdr header = header_of(message);
  header.nlmsg_seq = ++sequence_;
  if ((header.nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP) header.nlmsg_flags |= NLM_F_ACK;
  set_header(message, header);
  if (mnl_socket_sendto(socket_.get(), message.data(), message.size()) < 0) {
    return fail_os(errno, "netlink send");
  }
  std::vector<NetlinkReply> replies;
  // The kernel fills dumps up to 32 KiB a datagram and never more than the reader's buffer.
  std::vector<std::byte> datagram(64 * 1024);
  bool complete = false;
  while (!complete) {
    const ssize_t size = mnl_socket_recvfrom(socket_.get(), datagram.data(), datagram.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return fail(ErrorKind::io, "netlink: no answer within {} s", kTimeoutSeconds);
    }
    if (size < 0) return fail_os(errno, "netlink receive");
    const auto status = parse_datagram(ByteSpan(datagram).first(static_cast<std::size_t>(size)), sequence_,
                                       replies, complete);
    if (!status) return tl::unexpected(status.error());
  }
  return replies;
}

}  // namespace rocetune::host
