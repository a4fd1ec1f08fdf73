#include "dataplane/wire/opcode.h"

#include "congestion/units.h"

namespace rocetune::wire {
namespace {

constexpr std::array<std::uint8_t, 11> kHeaderSizes{4, 4, 8, 4, 16, 28, 4, 8, 4, 4, 16};

// The 32 operations a service may have; names and headers without what the service itself adds.
struct Row {
  std::uint8_t code;
  std::string_view name;
  Operation operation;
  bool starts, ends, payload;
  std::uint16_t extended;
};
using O = Operation;
constexpr std::array<Row, 25> kOperations{{
    {0x00, "SEND First", O::send, true, false, true, 0},
    {0x01, "SEND Middle", O::send, false, false, true, 0},
    {0x02, "SEND Last", O::send, false, true, true, 0},
    {0x03, "SEND Last with Immediate", O::send, false, true, true, kImmDt},
    {0x04, "SEND Only", O::send, true, true, true, 0},
    {0x05, "SEND Only with Immediate", O::send, true, true, true, kImmDt},
    {0x06, "RDMA WRITE First", O::write, true, false, true, kReth},
    {0x07, "RDMA WRITE Middle", O::write, false, false, true, 0},
    {0x08, "RDMA WRITE Last", O::write, false, true, true, 0},
    {0x09, "RDMA WRITE Last with Immediate", O::write, false, true, true, kImmDt},
    {0x0A, "RDMA WRITE Only", O::write, true, true, true, kReth},
    {0x0B, "RDMA WRITE Only with Immediate", O::write, true, true, true, kReth | kImmDt},
    {0x0C, "RDMA READ Request", O::read_request, true, true, false, kReth},
    {0x0D, "RDMA READ Response First", O::read_response, true, false, true, kAeth},
    {0x0E, "RDMA READ Response Middle", O::read_response, false, false, true, 0},
    {0x0F, "RDMA READ Response Last", O::read_response, false, true, true, kAeth},
    {0x10, "RDMA READ Response Only", O::read_response, true, true, true, kAeth},
    {0x11, "Acknowledge", O::acknowledge, true, true, false, kAeth},
    {0x12, "ATOMIC Acknowledge", O::atomic_acknowledge, true, true, false, kAeth | kAtomicAckEth},
    {0x13, "CmpSwap", O::compare_swap, true, true, false, kAtomicEth},
    {0x14, "FetchAdd", O::fetch_add, true, true, false, kAtomicEth},
    {0x16, "SEND Last with Invalidate", O::send, false, true, true, kIeth},
    {0x17, "SEND Only with Invalidate", O::send, true, true, true, kIeth},
    {0x1C, "FLUSH", O::flush, true, true, false, kFeth | kReth},
    {0x1D, "ATOMIC WRITE", O::atomic_write, true, true, true, kReth},
}};
constexpr Row kResync{0x15, "RESYNC", O::resync, true, true, false, 0};

constexpr bool is_response(Operation o) {
  return o == O::read_response || o == O::acknowledge || o == O::atomic_acknowledge;
}

// Which of the operations a service has, and what it adds to their headers.
constexpr bool has_operation(Service service, const Row& row) {
  switch (service) {
    case Service::rc:
    case Service::xrc:
      return true;
    case Service::uc:
      return row.code <= 0x0B;
    case Service::rd:
      return row.code <= 0x14;
    case Service::ud:
      return row.code == 0x04 || row.code == 0x05;
    case Service::cnp:
      break;
  }
  return false;
}
constexpr std::uint16_t service_headers(Service service, Operation o) {
  switch (service) {
    case Service::rd:
      return static_cast<std::uint16_t>(is_response(o) ? kRdeth : kRdeth | kDeth);
    case Service::ud:
      return kDeth;
    case Service::xrc:
      return is_response(o) ? std::uint16_t{0} : std::uint16_t{kXrceth};
    case Service::rc:
    case Service::uc:
    case Service::cnp:
      break;
  }
  return 0;
}

constexpr std::uint8_t total_size(std::uint16_t extended) {
  std::uint8_t size = 0;
  for (std::size_t i = 0; i < kHeaderSizes.size(); ++i) {
    if ((extended >> i & 1) != 0) size = static_cast<std::uint8_t>(size + kHeaderSizes[i]);
  }
  return size;
}

constexpr OpcodeInfo make(Service service, const Row& row) {
  const auto extended = static_cast<std::uint16_t>(row.extended | service_headers(service, row.operation));
  return {row.name, service,     row.operation, row.starts,
          row.ends, row.payload, extended,      total_size(extended)};
}

constexpr std::array<OpcodeInfo, 256> make_table() {
  std::array<OpcodeInfo, 256> table{};
  for (const auto& [prefix, service] :
       {std::pair{0x00, Service::rc}, std::pair{0x20, Service::uc}, std::pair{0x40, Service::rd},
        std::pair{0x60, Service::ud}, std::pair{0xA0, Service::xrc}}) {
    for (const Row& row : kOperations) {
      if (has_operation(service, row))
        table[static_cast<std::size_t>(prefix | row.code)] = make(service, row);
    }
  }
  table[0x55] = make(Service::rd, kResync);
  table[opcode::kCnp] =
      make(Service::cnp, Row{0x01, "CNP", O::congestion_notification, true, true, false, kCnpReserved});
  return table;
}
}  // namespace

constinit const std::array<OpcodeInfo, 256> kOpcodeTable = make_table();

std::string_view to_text(Service service) {
  constexpr std::array<std::string_view, 6> names{"RC", "UC", "RD", "UD", "CNP", "XRC"};
  return names[static_cast<std::size_t>(service)];
}

std::size_t size_of(Extended header) { return kHeaderSizes[static_cast<std::size_t>(__builtin_ctz(header))]; }

std::size_t OpcodeInfo::offset_of(Extended header) const {
  ROCETUNE_ASSERT(has(header));
  return total_size(static_cast<std::uint16_t>(extended & (header - 1)));
}

}  // namespace rocetune::wire
