#include "tools/rocetune/tap_device.h"

#include "dataplane/base/clock.h"
#include "dataplane/verbs/part.h"
#include "tools/rocetune/tap_listen.h"

namespace rocetune::cli {
namespace {

// "mlx5_0" or "mlx5_0:2".
verbs::SniffRequest request_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {.device = text};
  return {.device = text.substr(0, colon),
          .port = static_cast<std::uint8_t>(std::stoi(text.substr(colon + 1)))};
}

}  // namespace

std::string check_rdma_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos && !text.empty()) return {};
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool is_number =
      !port.empty() && port.size() <= 3 && port.find_first_not_of("0123456789") == std::string::npos;
  if (colon != 0 && is_number && std::stoi(port) >= 1 && std::stoi(port) <= 255) return {};
  return "found " + text + ", allowed: an RDMA device, with a port if it has several: mlx5_0, mlx5_0:2";
}

Expected<tap::TapFacts> facts_of_device(const TapCommand& command, const tap::ObserverOptions& options) {
  const auto part = open_part<verbs::VerbsPart>();
  if (!part) return tl::unexpected(part.error());
  const auto sniffer = (*part)->sniff(request_of(command.device));
  if (!sniffer) return tl::unexpected(sniffer.error().within("--device"));
  tap::ObserverOptions observed = options;
  if (!observed.link_speed) observed.link_speed = (*sniffer)->link_speed();
  tap::Observer observer(observed);
  std::array<verbs::SniffedFrame, 64> frames;
  listen(**sniffer, std::span<verbs::SniffedFrame>(frames), command.span, observer);
  tap::TapFacts facts = observer.facts();
  if (const auto errors = (*sniffer)->counters().errors; errors > 0)
    facts.notes.push_back(fmt::format("the device reported {} frames that it did not hand over", errors));
  facts.notes.push_back("pause frames end in the MAC of a port: pauses are not checked");
  return facts;
}

}  // namespace rocetune::cli
