#include "dataplane/transport/soft/channel.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "dataplane/base/clock.h"

namespace rocetune::soft {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Longer lines than any message: an offer of 4096 queue pairs is half of it.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr Duration kRetry = milliseconds(50);

struct Place {
  std::string host;  // empty: every address
  std::string port;
};

Expected<Place> parse_place(const std::string& text) {
  const auto wrong = [&] {
    return fail(ErrorKind::bad_input, "found {}, allowed: HOST:PORT, [IPV6]:PORT or :PORT", text);
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size()) return wrong();
  Place place{text.substr(0, colon), text.substr(colon + 1)};
  if (place.host.starts_with('[') && place.host.ends_with(']')) {
    place.host = place.host.substr(1, place.host.size() - 2);
  } else if (place.host.find(':') != std::string::npos) {
    return wrong();
  }
  const bool is_number = place.port.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || place.port.size() > 5 || std::stoi(place.port) > 65535) return wrong();
  return place;
}

tl::unexpected<Error> failed(const boost::system::error_code& error, const std::string& what) {
  if (error.category() == boost::system::system_category()) return fail_os(error.value(), "{}", what);
  return fail(ErrorKind::io, "{}: {}", what, error.message());
}

}  // namespace

struct Channel::State {
  // Takes what has arrived. Error: what the connection ended with.
  boost::system::error_code receive();
  // The first `size` bytes.
  std::string take(std::size_t size);

  asio::io_context context;
  tcp::socket socket{context};
  std::string peer;
  std::string received;
};

boost::system::error_code Channel::State::receive() {
  std::array<char, 4096> piece;
  boost::system::error_code error;
  socket.non_blocking(true, error);
  const std::size_t size = socket.read_some(asio::buffer(piece), error);
  received.append(piece.data(), size);
  if (error == asio::error::would_block || error == asio::error::try_again) error.clear();
  return error;
}

std::string Channel::State::take(std::size_t size) {
  std::string out = received.substr(0, size);
  received.erase(0, size);
  return out;
}

Channel::Channel(std::unique_ptr<State> state) : state_(std::move(state)) {}
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;
Channel::~Channel() = default;

std::string Channel::peer() const { return state_->peer; }

Expected<Channel> Channel::connect(const std::string& text, Duration patience) {
  const auto place = parse_place(text);
  if (!place) return tl::unexpected(place.error());
  if (place->host.empty()) return fail(ErrorKind::bad_input, "found {}, allowed: HOST:PORT", text);
  SystemClock clock;
  const Instant end = clock.now() + patience;
  auto state = std::make_unique<State>();
  for (;;) {
    boost::system::error_code error;
    const auto addresses = tcp::resolver(state->context).resolve(place->host, place->port, error);
    if (!error) asio::connect(state->socket, addresses, error);
    if (!error) break;
    if (clock.now() >= end) return failed(error, text);
    clock.sleep_for(kRetry);
  }
  state->socket.set_option(tcp::no_delay(true));
  state->peer = text;
  return Channel(std::move(state));
}

Expected<> Channel::send(std::string_view line) {
  ROCETUNE_ASSERT(line.find('\n') == std::string_view::npos);
  return send_bytes(std::string(line) + '\n');
}

Expected<> Channel::send_bytes(std::string_view bytes) {
  boost::system::error_code error;
  state_->socket.non_blocking(false, error);
  asio::write(state_->socket, asio::buffer(bytes), error);
  if (error) return failed(error, state_->peer);
  return {};
}

Expected<std::optional<std::string>> Channel::poll() {
  const auto error = state_->receive();
  const std::size_t end = state_->received.find('\n');
  if (end != std::string::npos) {
    std::string line = state_->take(end + 1);
    line.pop_back();
    return line;
  }
  if (error) return failed(error, state_->peer);
  if (state_->received.size() > kLongestLine) return fail(ErrorKind::io, "{}: sends no lines", state_->peer);
  return std::nullopt;
}

Expected<std::optional<std::string>> Channel::poll_bytes(std::size_t count) {
  const auto error = state_->receive();
  if (state_->received.size() >= count) return state_->take(count);
  if (error) return failed(error, state_->peer);
  return std::nullopt;
}

struct Listener::State {
  asio::io_context context;
  tcp::acceptor acceptor{context};
};

Listener::Listener(std::unique_ptr<State> state) : state_(std::move(state)) {}
Listener::Listener(Listener&&) noexcept = default;
Listener::~Listener() = default;

Expected<Listener> Listener::open(const std::string& text) {
  const auto place = parse_place(text);
  if (!place) return tl::unexpected(place.error());
  auto state = std::make_unique<State>();
  boost::system::error_code error;
  const auto addresses =
      tcp::resolver(state->context).resolve(place->host, place->port, tcp::resolver::passive, error);
  if (error) return failed(error, text);
  const tcp::endpoint endpoint = *addresses.begin();
  state->acceptor.open(endpoint.protocol(), error);
  if (!error) state->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) state->acceptor.bind(endpoint, error);
  if (!error) state->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) state->acceptor.non_blocking(true, error);
  if (error) return failed(error, text);
  return Listener(std::move(state));
}

Expected<std::optional<Channel>> Listener::poll() {
  auto state = std::make_unique<Channel::State>();
  boost::system::error_code error;
  tcp::endpoint peer;
  state_->acceptor.accept(state->socket, peer, error);
  if (error == asio::error::would_block || error == asio::error::try_again) return std::nullopt;
  if (error) return failed(error, "accepting a connection");
  state->socket.set_option(tcp::no_delay(true));
  state->peer = fmt::format("{}:{}", peer.address().to_string(), peer.port());
  return std::optional<Channel>(Channel(std::move(state)));
}

}  // namespace rocetune::soft
