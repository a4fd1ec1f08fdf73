#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "dataplane/base/sha256.h"
#include "tests/vm/interop/side.h"

namespace rocetune::interop {
namespace {

constexpr std::uint32_t kWindow = 16;       // requests in flight
constexpr std::uint32_t kLookInterval = 8;  // turns between looks at standard input

// Where message i lies in an area, and how long it is.
class Layout {
 public:
  explicit Layout(const Command& command) : sizes_(command.sizes) {
    if (sizes_.empty()) sizes_ = {8};
    stride_ = (*std::max_element(sizes_.begin(), sizes_.end()) + 7) / 8 * 8;
  }
  bool fits(std::uint32_t count) const { return std::size_t{count} * stride_ <= kArea; }
  std::uint32_t size(std::uint32_t i) const { return sizes_[i % sizes_.size()]; }
  std::uint64_t offset(std::uint32_t i) const { return std::uint64_t{i} * stride_; }

 private:
  std::vector<std::uint32_t> sizes_;
  std::uint32_t stride_;
};

// Steele, Lea and Flood's SplitMix64: bytes that depend on the seed and their place.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

class Server {
 public:
  explicit Server(Side& side) : side_(side) {}
  int run();

 private:
  std::optional<Reply> start(const Command& command);
  std::optional<Reply> advance();
  void fill(const Command& command);
  Expected<> receive(const Command& command);
  Expected<> post_more();
  Request request(std::uint32_t i) const;
  void take(const Done& done);
  std::string digest(const Command& command);
  // A line if a whole one is there; `is_over_` at the end of the input.
  std::optional<std::string> poll_line();

  Side& side_;
  std::string input_;
  bool is_over_ = false;
  std::optional<Command> waiting_;  // ask or collect that is not done yet
  std::uint32_t posted_ = 0;
  std::uint32_t finished_ = 0;
  std::uint32_t peer_key_ = 0;
  std::string status_ = "success";
  std::vector<Done> received_;
};

void Server::fill(const Command& command) {
  std::byte* source = side_.memory().data();
  const std::size_t end = Layout(command).offset(command.count);
  for (std::size_t at = 0; at < end; at += 8) {
    const std::uint64_t word = mixed(command.seed ^ at << 20);
    std::memcpy(source + at, &word, 8);
  }
  std::fill_n(source + kArea, end, std::byte{0});
}

Expected<> Server::receive(const Command& command) {
  const Layout layout(command);
  for (std::uint32_t i = 0; i < command.count; ++i) {
    if (auto posted = side_.post_receive(i, kArea + layout.offset(i), layout.size(i)); !posted) return posted;
  }
  return {};
}

std::string Server::digest(const Command& command) {
  const Layout layout(command);
  const std::byte* area = side_.memory().data() + (command.of_target ? kArea : 0);
  Sha256 sum;
  for (std::uint32_t i = 0; i < command.count; ++i) {
    sum.add(std::string_view(reinterpret_cast<const char*>(area + layout.offset(i)), layout.size(i)));
  }
  return to_text(sum.finish());
}

// Message i of what the suite wants; interop.py knows the same operands.
Request Server::request(std::uint32_t i) const {
  const Layout layout(*waiting_);
  const std::uint64_t seed = waiting_->seed;
  Request out{.id = i, .operation = waiting_->operation, .length = layout.size(i)};
  out.immediate = static_cast<std::uint32_t>(seed + i);
  const auto& keys = waiting_->keys;
  out.key = keys.empty() ? peer_key_ : keys[i % keys.size()];
  switch (out.operation) {
    case Operation::read:
      out.local = kArea + layout.offset(i);
      out.remote = layout.offset(i);
      break;
    case Operation::fetch_add:
    case Operation::compare_swap:
      out.length = 8;
      out.local = kArea + std::uint64_t{i} * 8;
      out.remote = kArea;
      out.swap_or_add = (seed << 32) + i + 1;
      // Every third one compares with what is not there.
      out.compare = i % 3 == 2 ? 1 : i == 0 ? 0 : (seed << 32) + (i % 3 == 0 ? i - 1 : i);
      break;
    default:
      out.local = layout.offset(i);
      out.remote = kArea + layout.offset(i);
  }
  return out;
}

Expected<> Server::post_more() {
  while (posted_ < waiting_->count && posted_ - finished_ < kWindow && status_ == "success") {
    if (auto posted = side_.post(request(posted_)); !posted) return posted;
    ++posted_;
  }
  return {};
}

void Server::take(const Done& done) {
  if (done.status != "success" && status_ == "success") status_ = done.status;
  if (done.is_receive) {
    received_.push_back(done);
  } else {
    ++finished_;
  }
}

std::optional<Reply> Server::start(const Command& command) {
  Reply reply;
  Expected<> result;
  if (waiting_ && command.kind != Command::Kind::counters) return Reply{.error = "busy"};
  switch (command.kind) {
    case Command::Kind::open: {
      status_ = "success";
      received_.clear();
      auto address = side_.open(command);
      if (!address) return Reply{.error = address.error().text()};
      reply.address = std::move(*address);
      break;
    }
    case Command::Kind::connect:
      peer_key_ = command.peer.key;
      result = side_.connect(command);
      break;
    case Command::Kind::close:
      result = side_.close();
      break;
    case Command::Kind::counters:
      reply.counters = side_.counters();
      break;
    default:
      if (!Layout(command).fits(command.count)) return Reply{.error = "too much for the memory"};
      if (command.kind == Command::Kind::digest) {
        reply.digest = digest(command);
      } else if (command.kind == Command::Kind::fill) {
        fill(command);
      } else if (command.kind == Command::Kind::windows) {
        for (std::uint32_t i = 0; i < command.count; ++i) {
          const auto key = side_.open_window();
          if (!key) return Reply{.error = key.error().text()};
          reply.keys.push_back(*key);
        }
      } else if (command.kind == Command::Kind::receive) {
        result = receive(command);
      } else {
        waiting_ = command;
        posted_ = finished_ = 0;
        return std::nullopt;
      }
  }
  if (!result) reply.error = result.error().text();
  return reply;
}

std::optional<Reply> Server::advance() {
  Reply reply{.status = status_};
  if (waiting_->kind == Command::Kind::ask) {
    if (auto posted = post_more(); !posted) {
      waiting_.reset();
      return Reply{.error = posted.error().text()};
    }
    reply.completed = finished_;
    if (finished_ < posted_) return std::nullopt;
  } else {
    if (received_.size() < waiting_->count && status_ == "success") return std::nullopt;
    reply.completed = static_cast<std::uint32_t>(received_.size());
    for (const Done& done : received_) {
      reply.lengths.push_back(done.length);
      if (done.immediate) reply.immediates.push_back(*done.immediate);
      if (done.invalidated) reply.invalidated.push_back(*done.invalidated);
    }
    received_.clear();
  }
  waiting_.reset();
  return reply;
}

std::optional<std::string> Server::poll_line() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (input_.find('\n') == std::string::npos && ::poll(&input, 1, 0) > 0) {
    char piece[4096];
    const ssize_t size = ::read(STDIN_FILENO, piece, sizeof piece);
    if (size <= 0) is_over_ = true;
    if (size > 0) input_.append(piece, static_cast<std::size_t>(size));
  }
  const std::size_t end = input_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = input_.substr(0, end);
  input_.erase(0, end + 1);
  return line;
}

int Server::run() {
  std::vector<Done> done;
  for (std::uint32_t turn = 0; !is_over_; ++turn) {
    done.clear();
    if (auto status = side_.turn(done); !status) {
      std::fprintf(stderr, "%s\n", status.error().text().c_str());
      return 1;
    }
    for (const Done& one : done) take(one);
    std::optional<Reply> reply;
    if (waiting_) reply = advance();
    if (!reply && turn % kLookInterval == 0) {
      if (const auto line = poll_line()) {
        const auto command = parse_command(*line);
        reply = command ? start(*command) : Reply{.error = command.error().text()};
      }
    }
    if (!reply) continue;
    const std::string text = to_line(*reply);
    if (::write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return 1;
  }
  return 0;
}

}  // namespace

int serve(Side& side) { return Server(side).run(); }

}  // namespace rocetune::interop
