#include "agent/counters/live_readers.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/host/namespaces.h"

namespace rocetune::counters {
namespace {

// A driver that changes its statistics at every read would never let us finish.
constexpr int kNameAttempts = 3;

// Keeps the old list if it says the same: layouts made for it stay good.
void update_names(std::shared_ptr<const NameList>& list, const std::vector<std::string>& names) {
  if (list != nullptr && list->names == names) return;
  list = std::make_shared<const NameList>(NameList{names});
}

}  // namespace

// ---- ethtool

EthtoolCounters::EthtoolCounters(const host::EthtoolSocket& socket, std::string port, const Clock& clock)
    : socket_(socket), port_(std::move(port)), clock_(clock) {}

Expected<> EthtoolCounters::read_names(Instant now) {
  reader_.reset();
  auto reader = host::StatisticsReader::open(socket_, port_);
  if (!reader) return tl::unexpected(reader.error());
  update_names(names_, reader->names());
  reader_ = std::move(*reader);
  names_read_at_ = now;
  return {};
}

Expected<> EthtoolCounters::read(Block& block) {
  Expected<> status;
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    const Instant begin = clock_.now();
    if (!reader_ || begin - names_read_at_ >= kNamesGoodFor) {
      status = read_names(begin);
      if (!status && status.error().kind() == ErrorKind::conflict) continue;
      if (!status) return status;
    }
    const Instant asked = clock_.now();
    const auto values = reader_->read();
    if (values) {
      block.names = names_;
      block.values.assign(values->begin(), values->end());
      block.at = middle(asked, clock_.now());
      return {};
    }
    reader_.reset();
    status = tl::unexpected(values.error());
    if (values.error().kind() != ErrorKind::conflict) return status;
  }
  return status;
}

// ---- DCB

DcbCounters::DcbCounters(host::DcbSocket& socket, std::string port, const Clock& clock)
    : socket_(socket), port_(std::move(port)), clock_(clock) {
  NameList list;
  for (int p = 0; p < Priority::kCount; ++p) list.names.push_back(fmt::format("pfc_requests_{}", p));
  for (int p = 0; p < Priority::kCount; ++p) list.names.push_back(fmt::format("pfc_indications_{}", p));
  names_ = std::make_shared<const NameList>(std::move(list));
}

Expected<> DcbCounters::read(Block& block) {
  const Instant begin = clock_.now();
  const auto dcb = socket_.read(port_);
  if (!dcb) return tl::unexpected(dcb.error());
  if (!dcb->pfc) return fail(ErrorKind::absent, "{}", dcb->pfc.error().why);
  mask_ = dcb->pfc->enabled.mask();
  block.names = names_;
  block.values.assign(dcb->pfc->requests.begin(), dcb->pfc->requests.end());
  block.values.insert(block.values.end(), dcb->pfc->indications.begin(), dcb->pfc->indications.end());
  block.at = middle(begin, clock_.now());
  return {};
}

// ---- RDMA

RdmaCounters::RdmaCounters(host::RdmaSocket* socket, std::string device, int port, std::string folder,
                           const Clock& clock)
    : socket_(socket),
      device_(std::move(device)),
      port_(static_cast<std::uint32_t>(port)),
      clock_(clock),
      files_(std::move(folder), clock),
      use_files_(socket == nullptr) {}

Expected<> RdmaCounters::read_netlink(Block& block) {
  if (!index_) {
    const auto devices = socket_->devices();
    if (!devices) return tl::unexpected(devices.error());
    const auto found = std::ranges::find(*devices, device_, &host::RdmaDeviceEntry::name);
    if (found == devices->end()) return fail(ErrorKind::absent, "RDMA device {}", device_);
    index_ = found->index;
  }
  const Instant begin = clock_.now();
  const auto statistics = socket_->statistics(*index_, port_);
  if (!statistics) {
    index_.reset();
    return tl::unexpected(statistics.error().within(device_));
  }
  const auto same_name = [](const auto& entry, const std::string& name) { return entry.first == name; };
  if (names_ == nullptr || !std::equal(statistics->begin(), statistics->end(), names_->names.begin(),
                                       names_->names.end(), same_name)) {
    NameList list;
    for (const auto& [name, value] : *statistics) list.names.push_back(name);
    names_ = std::make_shared<const NameList>(std::move(list));
  }
  block.names = names_;
  block.values.clear();
  for (const auto& [name, value] : *statistics) block.values.push_back(value);
  block.at = middle(begin, clock_.now());
  // nldev asks the driver at every request; only sysfs keeps values for a lifespan.
  block.resolution = Duration();
  return {};
}

Expected<> RdmaCounters::read(Block& block) {
  if (use_files_) return files_.read(block);
  auto status = read_netlink(block);
  if (status) return status;
  auto by_files = files_.read(block);
  if (!by_files) return status;  // the first complaint is about the better way
  // A kernel that cannot will not learn; anything else may pass.
  use_files_ = status.error().kind() == ErrorKind::unsupported;
  return by_files;
}

// ---- all of a host

SocketSet SocketSet::open() {
  return {host::EthtoolSocket::open(), host::DcbSocket::open(), host::RdmaSocket::open()};
}

Expected<SocketSet*> LiveSockets::in(const std::string& network_namespace) {
  auto& set = sets_[network_namespace];
  if (set != nullptr) return set.get();
  if (network_namespace.empty()) {
    set = std::make_unique<SocketSet>(SocketSet::open());
    return set.get();
  }
  const auto survey = host::survey_namespaces(files_);
  if (!survey) return tl::unexpected(survey.error());
  const auto found = std::ranges::find(survey->others, network_namespace, &host::NetworkNamespace::name);
  if (found == survey->others.end()) {
    return fail(ErrorKind::absent, "network namespace {} is gone", network_namespace);
  }
  auto status = host::in_namespace(
      found->path, [&](const host::NamespaceView&) { set = std::make_unique<SocketSet>(SocketSet::open()); });
  if (!status) return tl::unexpected(status.error());
  return set.get();
}

namespace {

bool is_running_host(const host::HostFiles& files) {
  if (files.root().root().empty()) return true;
  constexpr std::string_view kBootId = "/proc/sys/kernel/random/boot_id";
  const auto theirs = files.attribute(kBootId);
  const auto ours = host::HostFiles().attribute(kBootId);
  return theirs && ours && *theirs == *ours;
}

void add_netdev_readers(PortReaders& out, const Expected<SocketSet*>& set, const Clock& clock) {
  auto& ethtool = out.readers[index_of(Source::ethtool)];
  auto& dcb = out.readers[index_of(Source::dcb)];
  auto& no_ethtool = out.missing[index_of(Source::ethtool)];
  auto& no_dcb = out.missing[index_of(Source::dcb)];
  if (!set) {
    no_ethtool = no_dcb = unavailable(set.error()).value();
    return;
  }
  if ((*set)->ethtool)
    ethtool = std::make_unique<EthtoolCounters>(*(*set)->ethtool, out.port, clock);
  else
    no_ethtool = unavailable((*set)->ethtool.error()).value();
  if ((*set)->dcb)
    dcb = std::make_unique<DcbCounters>(*(*set)->dcb, out.port, clock);
  else
    no_dcb = unavailable((*set)->dcb.error()).value();
}

}  // namespace

std::vector<PortReaders> live_readers(const host::Host& host, const host::HostFiles& files,
                                      LiveSockets& sockets, const Clock& clock) {
  const bool is_live = is_running_host(files);
  std::vector<PortReaders> out;
  for (const host::Port& port : host.ports) {
    PortReaders readers;
    readers.port = port.name;
    readers.nic = port.nic;
    if (port.link) readers.speed = port.link->speed;
    Expected<SocketSet*> set = is_live
                                   ? sockets.in(port.network_namespace)
                                   : fail(ErrorKind::absent, "a tree of files has no ethtool and no netlink");
    add_netdev_readers(readers, set, clock);
    if (port.rdma) {
      host::RdmaSocket* socket = set && (*set)->rdma ? &*(*set)->rdma : nullptr;
      const std::string folder = files.path(
          fmt::format("/sys/class/infiniband/{}/ports/{}/hw_counters", port.rdma->device, port.rdma->port));
      readers.readers[index_of(Source::rdma)] =
          std::make_unique<RdmaCounters>(socket, port.rdma->device, port.rdma->port, folder, clock);
    } else {
      readers.missing[index_of(Source::rdma)] = port.rdma.error();
    }
    out.push_back(std::move(readers));
  }
  return out;
}

}  // namespace rocetune::counters
