#include "agent/evidence/logs/nccl_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "agent/evidence/logs/nccl_wording.h"
#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kNcclAnchors[] = {"NCCL INFO ", "NCCL WARN ", "NCCL version ", "via NET/"};
constexpr std::size_t kMostSettings = 1024;

struct Message {
  std::string_view host;
  std::string_view text;  // behind "NCCL INFO "
  bool is_warning = false;
};

// "node01:25668:27396" -> "node01"; empty for other words.
std::string_view host_of_word(std::string_view word) {
  const auto last = word.rfind(':');
  if (last == std::string_view::npos || last == 0) return {};
  const auto first = word.rfind(':', last - 1);
  if (first == std::string_view::npos || first == 0) return {};
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  std::string_view tid = word.substr(last + 1);
  if (!is_number(word.substr(first + 1, last - first - 1)) || (!tid.empty() && !is_number(tid))) return {};
  return word.substr(0, first);
}

std::optional<Message> message_of(std::string_view text) {
  const auto at = text.find("NCCL ");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + 5);
  Message out;
  if (rest.starts_with("INFO ")) {
    out.text = rest.substr(5);
  } else if (rest.starts_with("WARN ")) {
    out.text = rest.substr(5);
    out.is_warning = true;
  } else if (rest.starts_with("version ")) {
    out.text = rest;
  } else {
    return std::nullopt;
  }
  // Of the words in front only the one with two colons names a host: tags and times stand there as well.
  std::string_view front = text.substr(0, at);
  while (!front.empty() && out.host.empty()) {
    const auto begin = front.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    front.remove_prefix(begin);
    const auto end = front.find(' ');
    const std::string_view word = front.substr(0, end);
    if (word.front() != '[') out.host = host_of_word(word);
    front = end == std::string_view::npos ? std::string_view() : front.substr(end);
  }
  return out;
}

// "[0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"
NcclDevices devices_of(std::string_view list, Quote quote) {
  NcclDevices out;
  out.quote = std::move(quote);
  list = list.substr(0, list.find("; OOB"));
  out.is_shortened = contains_any(list, {"\xe2\x80\xa6", "..."});
  for (const std::string_view word : Words(list)) {
    const auto close = word.find(']');
    if (!word.starts_with('[') || close == std::string_view::npos || close + 1 >= word.size()) continue;
    std::string_view device = word.substr(close + 1);
    out.is_roce |= contains(device, "/RoCE");
    out.is_infiniband |= contains(device, "/IB");
    device = device.substr(0, device.find_first_of(":/"));
    // "[0]={[0]mlx5_0:1/RoCE": devices that are merged.
    if (const auto inner = device.rfind(']'); inner != std::string_view::npos)
      device.remove_prefix(inner + 1);
    while (!device.empty() && (device.front() == '=' || device.front() == '{')) device.remove_prefix(1);
    if (!device.empty()) out.names.emplace_back(device);
  }
  return out;
}

class NcclLogReader final : public DocumentReader {
 public:
  explicit NcclLogReader(const Context&) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    if (dump_.take(text, line.number)) return Verdict::mine;
    const auto message = message_of(text);
    if (!message) return take_fragment(line) ? Verdict::mine : Verdict::not_mine;
    ++log_.lines;
    last_qp_setup_ = false;
    note_host(message->host);
    if (message->is_warning) {
      take_warning(*message, line);
    } else {
      take_information(*message, line);
    }
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    Document document;
    log_.cqe = dump_.first();
    add_facts(document);
    if (log_.cqe && log_.signs.completions.empty()) add_completion_of(*log_.cqe, log_.signs);
    if (log_.hosts.size() == 1) document.host = log_.hosts.front();
    document.content = std::move(log_);
    return document;
  }

 private:
  static Quote quote(const Line& line, const Message& message) {
    return {line.text, line.number, message.host};
  }

  // A channel line that was pasted without its head, or what goes on from the line before.
  bool take_fragment(const Line& line) {
    if (last_qp_setup_ && add_qp_setup_details(line.text, log_.signs.qp_setups.first.back())) return true;
    if (!contains(line.text, "via NET/") || !contains(line.text, "->")) return false;
    const Message message{.host = {}, .text = line.text};
    take_channel(message, line);
    return true;
  }

  void note_host(std::string_view host) {
    if (host.empty() || host == last_host_) return;
    last_host_ = host;
    const auto known = std::find(log_.hosts.begin(), log_.hosts.end(), host);
    if (known == log_.hosts.end() && log_.hosts.size() < NcclLog::kMostHosts) log_.hosts.emplace_back(host);
  }

  void take_warning(const Message& message, const Line& line) {
    if (auto failed = nccl_completion_of(message.text, quote(line, message))) {
      log_.signs.add(*std::move(failed));
    } else if (auto setup = nccl_qp_setup_of(message.text, quote(line, message))) {
      last_qp_setup_ = log_.signs.qp_setups.has_room();
      log_.signs.qp_setups.add(*std::move(setup));
    } else if (auto registration = nccl_registration_of(message.text, quote(line, message))) {
      log_.signs.registrations.add(*std::move(registration));
    } else if (!take_network(message, line) && contains_any(message.text, {"ibv_", "NET/IB"})) {
      log_.signs.other_errors.add(quote(line, message));
    }
  }

  void take_information(const Message& message, const Line& line) {
    const std::string_view text = message.text;
    if (text.starts_with("Channel ") || contains(text, "via NET/")) {
      take_channel(message, line);
    } else if (text.starts_with("NET/") || text.starts_with("Failed to open") ||
               text.starts_with("Using network")) {
      take_network(message, line);
    } else if (text.starts_with("NCCL_")) {
      take_setting(message, line);
    } else if (text.starts_with("version ") || text.starts_with("NCCL version ")) {
      log_.versions.add({word_behind(text, "version "), line.number, message.host});
    } else if (contains(text, "anks ")) {
      take_communicator(text);
    } else if (contains(text, "Got completion ")) {
      if (auto failed = nccl_completion_of(text, quote(line, message))) log_.signs.add(*std::move(failed));
    }
  }

  // "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"
  void take_channel(const Message& message, const Line& line) {
    const auto network = behind(message.text, "via NET/");
    if (!network) return;
    NcclChannels& channels = channels_of(message.host);
    const bool sends = contains(message.text, "[send]");
    if (network->starts_with("Socket")) {
      if (channels.socket++ == 0) channels.first_socket = quote(line, message);
    } else if (network->starts_with("IB")) {
      const bool gdr = contains(*network, "/GDRDMA");
      Quote& first = gdr ? channels.first_gdr : channels.first_plain;
      if (first.line == 0) first = quote(line, message);
      ++(gdr ? (sends ? channels.gdr_send : channels.gdr_receive)
             : (sends ? channels.plain_send : channels.plain_receive));
    }
  }

  NcclChannels& channels_of(std::string_view host) {
    for (NcclChannels& known : log_.channels) {
      if (known.host == host) return known;
    }
    if (log_.channels.size() >= NcclLog::kMostHosts) return log_.channels.back();
    log_.channels.emplace_back().host = host;
    return log_.channels.back();
  }

  // Which network is used, and which devices it has. False for other messages.
  bool take_network(const Message& message, const Line& line) {
    const std::string_view text = message.text;
    if (contains(text, "GPU Direct RDMA ")) {
      if (contains(text, "for HCA")) {
        (contains(text, "Disabled") ? log_.gdr_disabled : log_.gdr_enabled).add(quote(line, message));
      }
    } else if (contains(text, "Failed to open libibverbs")) {
      log_.signs.no_rdma.add(quote(line, message));
    } else if (contains(text, "No device found")) {
      log_.no_ib_device.add(quote(line, message));
    } else if (text.starts_with("NET/Socket : Using") || text.starts_with("Using network Socket")) {
      log_.socket_used.add(quote(line, message));
    } else if (text.starts_with("Using network ") || text.starts_with("NET/IB : Using ")) {
      log_.ib_used.add(quote(line, message));
      const auto list = behind(text, "NET/IB : Using ");
      if (list && list->starts_with('[') && log_.devices.size() < NcclLog::kMostHosts) {
        log_.devices.push_back(devices_of(*list, quote(line, message)));
      }
    } else if (contains(text, "query_ece={")) {
      take_connection(message, line);
    } else {
      return false;
    }
    return true;
  }

  // "NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 1 mtu 5 query_ece={supported=1, ..., options=0x2} GID 3
  // (80FE/...)"
  void take_connection(const Message& message, const Line& line) {
    const auto options = hexadecimal_behind(message.text, "options=");
    const bool supported = integer_behind(message.text, "supported=").value_or(0) == 1;
    if (!log_.ece && supported && options.value_or(0) != 0) {
      log_.ece = {quote(line, message), static_cast<std::uint64_t>(*options)};
    }
    const auto gid = behind(message.text, " GID ");
    if (!gid || !log_.signs.gids.has_room()) return;
    // The two halves as they lie in memory, printed as numbers: "80FE" is fe80.
    if (contains(*gid, "(80FE/")) {
      UsedGid used;
      used.quote = quote(line, message);
      if (const auto index = leading_integer(*gid)) used.index = static_cast<int>(*index);
      used.gid = *GidText::of("fe80::");
      log_.signs.gids.add(std::move(used));
    }
  }

  // "NCCL_IB_GID_INDEX set by environment to 3.", "NCCL_IB_HCA set to rocep"
  void take_setting(const Message& message, const Line& line) {
    const auto name_end = message.text.find(' ');
    if (name_end == std::string_view::npos || log_.settings.size() >= kMostSettings) return;
    const std::string_view rest = message.text.substr(name_end);
    auto value = behind(rest, " set by environment to ");
    if (!value) value = behind(rest, " set to ");
    if (!value) return;
    std::string_view text = *value;
    if (text.ends_with('.')) text.remove_suffix(1);
    Setting setting{std::string(message.text.substr(0, name_end)), std::string(text), line.number,
                    std::string(message.host)};
    // Every rank says it.
    const bool known = std::any_of(log_.settings.begin(), log_.settings.end(), [&](const Setting& other) {
      return other.name == setting.name && other.value == setting.value && other.host == setting.host;
    });
    if (!known) log_.settings.push_back(std::move(setting));
  }

  // "comm 0x... rank 0 nranks 16 cudaDev 0", "rank 0 nRanks 2 nNodes 2 localRanks 1"
  void take_communicator(std::string_view text) {
    for (const std::string_view mark : {" nranks ", " nRanks "}) {
      if (const auto ranks = integer_behind(text, mark);
          ranks && *ranks > log_.ranks.value_or(0) && *ranks < 1 << 24)
        log_.ranks = static_cast<int>(*ranks);
    }
    if (const auto nodes = integer_behind(text, " nNodes ");
        nodes && *nodes > log_.nodes.value_or(0) && *nodes < 1 << 24)
      log_.nodes = static_cast<int>(*nodes);
  }

  void add_facts(Document& document) const {
    add_completion_facts(log_.signs, document);
    if (log_.cqe) add_facts_of(*log_.cqe, document);
    std::uint64_t gdr = 0, plain = 0;
    for (const NcclChannels& channels : log_.channels) {
      gdr += channels.gdr_send + channels.gdr_receive;
      plain += channels.plain_send + channels.plain_receive;
    }
    if (gdr + plain > 0) {
      document.add_fact("nccl.gdr_channels", static_cast<double>(gdr));
      document.add_fact("nccl.nongdr_channels", static_cast<double>(plain));
    }
    if (log_.gdr_disabled.total + log_.gdr_enabled.total > 0) {
      document.add_fact("nccl.gdr_disabled_hcas", static_cast<double>(log_.gdr_disabled.total));
    }
    add_traffic_class_facts(document, log_.settings);
  }

  NcclLog log_;
  CqeDump dump_;
  std::string last_host_;
  bool last_qp_setup_ = false;
};

bool begins_nccl(const Line& line, const Context&) {
  return contains_any(line.text, {"NCCL INFO ", "NCCL WARN "}) ||
         (contains(line.text, "via NET/") && contains(line.text, "->")) ||
         line.text.starts_with("NCCL version ");
}

}  // namespace

Format nccl_log_format() {
  return {
      .name = "nccl-log", .anchors = kNcclAnchors, .begins = begins_nccl, .open = open_reader<NcclLogReader>};
}

}  // namespace rocetune::evidence
