// One end of a queue pair, whoever implements it: rocetune's engine (engine_side.cc) or libibverbs
// (verbs_side.cc).
#pragma once

#include <span>

#include "tests/vm/interop/conversation.h"

namespace rocetune::interop {

// Offsets are into the side's own memory, or into the peer's.
struct Request {
  std::uint64_t id = 0;
  Operation operation = Operation::send;
  std::uint64_t local = 0;
  std::uint32_t length = 0;
  std::uint64_t remote = 0;
  std::uint32_t immediate = 0;
  std::uint32_t key = 0;  // of the peer: to invalidate, or for the remote place
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
};

struct Done {
  std::uint64_t id = 0;
  bool is_receive = false;
  std::string status;  // the engine's names; "success"
  std::uint32_t length = 0;
  std::optional<std::uint32_t> immediate;
  std::optional<std::uint32_t> invalidated;  // key
};

class Side {
 public:
  virtual ~Side() = default;
  virtual Expected<Address> open(const Command& command) = 0;
  virtual Expected<> connect(const Command& command) = 0;
  // A key by which the peer may use all memory until it is invalidated or the queue pair closed. Nothing is
  // in flight.
  virtual Expected<std::uint32_t> open_window() = 0;
  virtual Expected<> post_receive(std::uint64_t id, std::uint64_t offset, std::uint32_t length) = 0;
  virtual Expected<> post(const Request& request) = 0;
  // Keeps the queue pair alive; completions are added to `done`. May wait a little if there is nothing to do.
  virtual Expected<> turn(std::vector<Done>& done) = 0;
  virtual Expected<> close() = 0;
  // At least kMemory bytes.
  virtual std::span<std::byte> memory() = 0;
  virtual std::map<std::string, std::uint64_t> counters() = 0;
};

// The first half is sent from and read by the peer (source), the second is received into and written by the
// peer (target).
constexpr std::size_t kArea = std::size_t{4} << 20;
constexpr std::size_t kMemory = 2 * kArea;

// Reads commands and answers them until standard input ends. The exit code.
int serve(Side& side);

}  // namespace rocetune::interop
