// A TCP connection between two processes that are about to connect queue pairs: lines of text, or pieces of
// an agreed size, and nobody waits for them longer than he wants to.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dataplane/base/error.h"

namespace rocetune::soft {

class Channel {
 public:
  // `place`: "host:port". Tries again until `patience` is over: the other side may not listen yet. Errors:
  // bad_input (place), io.
  static Expected<Channel> connect(const std::string& place, Duration patience);
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;
  ~Channel();

  // Errors: io (the peer is gone). The line must not contain a line feed.
  Expected<> send(std::string_view line);
  // A whole line if one has arrived; does not wait. Errors: io (the peer is gone, or a line is too long).
  Expected<std::optional<std::string>> poll();
  // The same without lines. `count` at least 1: all of these bytes, or none yet.
  Expected<> send_bytes(std::string_view bytes);
  Expected<std::optional<std::string>> poll_bytes(std::size_t count);
  // "192.0.2.1:40312"
  std::string peer() const;

 private:
  friend class Listener;
  struct State;
  explicit Channel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Listener {
 public:
  // `place`: "host:port", "[2001:db8::1]:port" or ":port" for every address. Errors: bad_input, io.
  static Expected<Listener> open(const std::string& place);
  Listener(Listener&&) noexcept;
  ~Listener();
  // A connection if one is there; does not wait.
  Expected<std::optional<Channel>> poll();

 private:
  struct State;
  explicit Listener(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rocetune::soft
