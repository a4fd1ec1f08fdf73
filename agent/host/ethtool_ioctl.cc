#include "agent/host/ethtool_ioctl.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

namespace rocetune::host {
namespace {

template <std::size_t N>
std::string text_of(const char (&field)[N]) {
  return {field, strnlen(field, N)};
}

// A name shorter than IFNAMSIZ in the ifreq of one request.
int ioctl_command(int fd, const std::string& port, void* command) {
  ifreq request{};
  if (port.size() >= sizeof request.ifr_name) return ENODEV;
  std::memcpy(request.ifr_name, port.data(), port.size());
  request.ifr_data = static_cast<char*>(command);
  return ioctl(fd, SIOCETHTOOL, &request) < 0 ? errno : 0;
}

std::string_view fec_name(std::uint32_t active) {
  if ((active & ETHTOOL_FEC_RS) != 0) return "RS";
  if ((active & ETHTOOL_FEC_LLRS) != 0) return "LLRS";
  if ((active & ETHTOOL_FEC_BASER) != 0) return "BaseR";
  if ((active & ETHTOOL_FEC_OFF) != 0) return "Off";
  return "";
}

// A command struct whose last member is an array of unknown length, with `Tail` bytes for that array.
template <class Head, std::size_t Tail>
class TailedCommand {
 public:
  TailedCommand() : head_(new(bytes_) Head{}) {}
  TailedCommand(const TailedCommand&) = delete;
  TailedCommand& operator=(const TailedCommand&) = delete;
  Head* operator->() { return head_; }
  void* command() { return bytes_; }
  const std::byte* tail() const { return bytes_ + sizeof(Head); }
  template <class T>
  T tail_as() const {
    static_assert(sizeof(T) <= Tail);
    T out;
    std::memcpy(&out, tail(), sizeof out);
    return out;
  }
  template <class T>
  void set_tail(const T& value) {
    static_assert(sizeof(T) <= Tail);
    std::memcpy(bytes_ + sizeof(Head), &value, sizeof value);
  }

 private:
  alignas(8) std::byte bytes_[sizeof(Head) + Tail]{};
  Head* head_;
};

class PfcPreventionCommand : public TailedCommand<ethtool_tunable, sizeof(std::uint16_t)> {
 public:
  explicit PfcPreventionCommand(std::uint32_t command) {
    (*this)->cmd = command;
    (*this)->id = ETHTOOL_PFC_PREVENTION_TOUT;
    (*this)->type_id = ETHTOOL_TUNABLE_U16;
    (*this)->len = sizeof(std::uint16_t);
  }
};

constexpr std::size_t kMaxAddress = 32;     // MAX_ADDR_LEN
constexpr std::size_t kMaxMaskWords = 127;  // __s8 link_mode_masks_nwords

std::size_t rounded_to_pages(std::size_t size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t size) : usable_size_((size + 7) & ~std::size_t{7}) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t readable = rounded_to_pages(usable_size_);
  mapping_size_ = readable + page;
  mapping_ = mmap(nullptr, mapping_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ROCETUNE_ASSERT(mapping_ != MAP_FAILED);  // out of memory is out of our hands
  auto* const guard = static_cast<std::byte*>(mapping_) + readable;
  ROCETUNE_ASSERT(mprotect(guard, page, PROT_NONE) == 0);
  usable_ = guard - usable_size_;  // the last byte touches the guard
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_size_, other.mapping_size_);
  std::swap(usable_, other.usable_);
  std::swap(usable_size_, other.usable_size_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_size_);
}

Expected<EthtoolSocket> EthtoolSocket::open() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail_os(errno, "socket for ethtool");
  const std::shared_ptr<const int> owner(new int(fd), [](const int* descriptor) {
    close(*descriptor);
    delete descriptor;
  });
  return EthtoolSocket(
      [owner](const std::string& port, void* command) { return ioctl_command(*owner, port, command); });
}

Expected<> EthtoolSocket::control(const std::string& port, void* command, const char* what) const {
  const int error = control_(port, command);
  if (error != 0) return fail_os(error, "{} of {}", what, port);
  return {};
}

Expected<DriverInfo> EthtoolSocket::driver_info(const std::string& port) const {
  ethtool_drvinfo wire{};
  wire.cmd = ETHTOOL_GDRVINFO;
  return control(port, &wire, "driver information").map([&] {
    return DriverInfo{text_of(wire.driver), text_of(wire.fw_version), text_of(wire.bus_info), wire.n_stats};
  });
}

Expected<LinkSettings> EthtoolSocket::link_settings(const std::string& port) const {
  // The kernel answers the first request with the number of mask words it wants, negated; the second must
  // offer as many.
  TailedCommand<ethtool_link_settings, 3 * kMaxMaskWords * sizeof(std::uint32_t)> wire;
  wire->cmd = ETHTOOL_GLINKSETTINGS;
  if (auto status = control(port, wire.command(), "link settings"); !status) {
    return tl::unexpected(status.error());
  }
  if (wire->link_mode_masks_nwords >= 0) {
    return fail(ErrorKind::io, "link settings of {}: no agreement on mask size", port);
  }
  wire->link_mode_masks_nwords = static_cast<std::int8_t>(-wire->link_mode_masks_nwords);
  wire->cmd = ETHTOOL_GLINKSETTINGS;
  if (auto status = control(port, wire.command(), "link settings"); !status) {
    return tl::unexpected(status.error());
  }
  LinkSettings out;
  if (wire->speed != 0 && wire->speed != static_cast<std::uint32_t>(SPEED_UNKNOWN)) {
    out.speed = megabits_per_second(wire->speed);
  }
  if (wire->duplex == DUPLEX_FULL) out.full_duplex = true;
  if (wire->duplex == DUPLEX_HALF) out.full_duplex = false;
  out.autonegotiation = wire->autoneg == AUTONEG_ENABLE;
  return out;
}

Expected<bool> EthtoolSocket::link_detected(const std::string& port) const {
  ethtool_value wire{.cmd = ETHTOOL_GLINK, .data = 0};
  return control(port, &wire, "link state").map([&] { return wire.data != 0; });
}

Expected<std::string> EthtoolSocket::active_fec(const std::string& port) const {
  ethtool_fecparam wire{};
  wire.cmd = ETHTOOL_GFECPARAM;
  if (auto status = control(port, &wire, "FEC"); !status) return tl::unexpected(status.error());
  const std::string_view name = fec_name(wire.active_fec);
  if (name.empty()) return fail(ErrorKind::absent, "no FEC is active on {}", port);
  return std::string(name);
}

Expected<GlobalPause> EthtoolSocket::pause(const std::string& port) const {
  ethtool_pauseparam wire{};
  wire.cmd = ETHTOOL_GPAUSEPARAM;
  return control(port, &wire, "pause parameters").map([&] {
    return GlobalPause{wire.autoneg != 0, wire.rx_pause != 0, wire.tx_pause != 0};
  });
}

Expected<> EthtoolSocket::set_pause(const std::string& port, const GlobalPause& pause) const {
  ethtool_pauseparam wire{.cmd = ETHTOOL_SPAUSEPARAM,
                          .autoneg = pause.autonegotiate,
                          .rx_pause = pause.receive,
                          .tx_pause = pause.transmit};
  return control(port, &wire, "set pause parameters");
}

Expected<std::uint16_t> EthtoolSocket::pfc_prevention(const std::string& port) const {
  PfcPreventionCommand wire(ETHTOOL_GTUNABLE);
  return control(port, wire.command(), "tunable pfc-prevention-tout").map([&] {
    return wire.tail_as<std::uint16_t>();
  });
}

Expected<> EthtoolSocket::set_pfc_prevention(const std::string& port, std::uint16_t milliseconds) const {
  PfcPreventionCommand wire(ETHTOOL_STUNABLE);
  wire.set_tail(milliseconds);
  return control(port, wire.command(), "set tunable pfc-prevention-tout");
}

Expected<std::string> EthtoolSocket::permanent_address(const std::string& port) const {
  TailedCommand<ethtool_perm_addr, kMaxAddress> wire;
  wire->cmd = ETHTOOL_GPERMADDR;
  wire->size = kMaxAddress;
  if (auto status = control(port, wire.command(), "permanent address"); !status) {
    return tl::unexpected(status.error());
  }
  const std::size_t size = std::min<std::size_t>(wire->size, kMaxAddress);
  std::string out;
  bool any = false;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = std::to_integer<int>(wire.tail()[i]);
    any = any || byte != 0;
    out += fmt::format("{}{:02x}", i == 0 ? "" : ":", byte);
  }
  if (!any) return fail(ErrorKind::absent, "{} has no permanent address", port);
  return out;
}

Expected<std::uint32_t> EthtoolSocket::statistics_count(const std::string& port) const {
  TailedCommand<ethtool_sset_info, sizeof(std::uint32_t)> wire;
  wire->cmd = ETHTOOL_GSSET_INFO;
  wire->sset_mask = 1ull << ETH_SS_STATS;
  if (auto status = control(port, wire.command(), "number of statistics"); !status) {
    return tl::unexpected(status.error());
  }
  if (wire->sset_mask == 0) return fail(ErrorKind::unsupported, "{} has no ethtool statistics", port);
  return wire.tail_as<std::uint32_t>();
}

Expected<StatisticsReader> StatisticsReader::open(const EthtoolSocket& socket, const std::string& port) {
  const auto count = socket.statistics_count(port);
  if (!count) return tl::unexpected(count.error());
  const GuardedBuffer buffer(sizeof(ethtool_gstrings) + (*count + kSlack) * ETH_GSTRING_LEN);
  auto* const wire = static_cast<ethtool_gstrings*>(buffer.data());
  *wire = {.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = *count};
  if (auto status = socket.control(port, wire, "names of statistics"); !status) {
    return tl::unexpected(status.error());
  }
  if (wire->len != *count) {
    return fail(ErrorKind::conflict, "{}: {} statistics became {} while their names were read", port, *count,
                wire->len);
  }
  std::vector<std::string> names;
  const auto* text = reinterpret_cast<const char*>(wire + 1);
  for (std::uint32_t i = 0; i < *count; ++i, text += ETH_GSTRING_LEN) {
    names.emplace_back(text, strnlen(text, ETH_GSTRING_LEN));
  }
  return StatisticsReader(socket, port, std::move(names));
}

StatisticsReader::StatisticsReader(const EthtoolSocket& socket, std::string port,
                                   std::vector<std::string> names)
    : socket_(&socket),
      port_(std::move(port)),
      names_(std::move(names)),
      buffer_(sizeof(ethtool_stats) + (names_.size() + kSlack) * sizeof(std::uint64_t)) {}

Expected<std::span<const std::uint64_t>> StatisticsReader::read() {
  auto* const wire = static_cast<ethtool_stats*>(buffer_.data());
  const auto expected = static_cast<std::uint32_t>(names_.size());
  *wire = {.cmd = ETHTOOL_GSTATS, .n_stats = expected};
  auto status = socket_->control(port_, wire, "statistics");
  if (!status && status.error().os_error() == EFAULT) {
    return fail(ErrorKind::conflict, "{}: far more than {} statistics", port_, expected);
  }
  if (!status) return tl::unexpected(status.error());
  if (wire->n_stats != expected) {
    return fail(ErrorKind::conflict, "{}: {} statistics became {}", port_, expected, wire->n_stats);
  }
  return std::span<const std::uint64_t>(reinterpret_cast<const std::uint64_t*>(wire + 1), expected);
}

}  // namespace rocetune::host
