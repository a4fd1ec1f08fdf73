// Format "nccl-log": lines of NCCL and RCCL of all ages, "NCCL INFO" and "NCCL WARN", also with other
// programs' lines in between, and channel lines alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"
#include "agent/evidence/logs/settings.h"
#include "agent/evidence/signs.h"
#include "agent/evidence/verbs_words.h"

namespace rocetune::evidence {

// "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE" of one host.
struct NcclDevices {
  Quote quote;
  std::vector<std::string> names;
  bool is_roce = false;
  bool is_infiniband = false;
  bool is_shortened = false;  // the poster put "..." in: names are missing
};

// Channels over the network of one host, by direction: with GPUDirect RDMA or without.
struct NcclChannels {
  std::string host;
  std::uint64_t gdr_send = 0, gdr_receive = 0, plain_send = 0, plain_receive = 0;
  std::uint64_t socket = 0;
  Quote first_plain, first_gdr, first_socket;
};

// "query_ece={supported=1, vendor_id=0x15b3, options=0x30000002": enhanced connection establishment.
struct NcclEce {
  Quote quote;
  std::uint64_t options = 0;
};

struct NcclLog {
  Signs signs;
  std::vector<std::string> hosts;  // in order of appearance; the first kMostHosts
  std::optional<int> ranks, nodes;
  Few<Quote> versions;  // "2.18.3+cuda12.2"
  std::vector<Setting> settings;
  std::vector<NcclDevices> devices;  // the first kMostHosts
  std::vector<NcclChannels> channels;
  Few<Quote> gdr_disabled, gdr_enabled;  // for an HCA
  Few<Quote> socket_used, ib_used,
      no_ib_device;            // "Using network Socket", "NET/Socket : Using"; IB; No device
  std::optional<NcclEce> ece;  // the first with options
  std::optional<CqeDump::Error> cqe;
  std::uint64_t lines = 0;
  static constexpr std::size_t kMostHosts = 256;
};

Format nccl_log_format();

}  // namespace rocetune::evidence
