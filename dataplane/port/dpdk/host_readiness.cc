#include "dataplane/port/dpdk/host_readiness.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "dataplane/base/file.h"

namespace rocetune::dpdk {
namespace {

constexpr std::string_view kPoolPrefix = "hugepages-";  // hugepages-2048kB

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> read_number(const std::string& path) {
  const Expected<std::string> text = read_attribute(path);
  return text ? parse_number(*text) : std::nullopt;
}

constexpr std::int64_t kLargestPageKib = std::int64_t{1} << 40;

std::optional<Bytes> kibibytes(std::optional<std::int64_t> count) {
  if (!count || *count <= 0 || *count > kLargestPageKib) return std::nullopt;
  return Bytes(*count * 1024);
}

// "2M", "1024M", "1G", as hugetlbfs shows its pagesize option.
std::optional<Bytes> parse_mount_page_size(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::int64_t kib = text.back() == 'M' ? 1024 : text.back() == 'G' ? 1024 * 1024 : 1;
  if (kib == 1 && text.back() != 'K') return std::nullopt;
  const std::optional<std::int64_t> count = parse_number(text.substr(0, text.size() - 1));
  if (!count || *count > kLargestPageKib / kib) return std::nullopt;
  return kibibytes(*count * kib);
}

// "hugepages-2048kB" -> 2 MiB.
std::optional<Bytes> page_size_of(std::string_view folder) {
  if (!folder.starts_with(kPoolPrefix) || !folder.ends_with("kB")) return std::nullopt;
  folder.remove_prefix(kPoolPrefix.size());
  folder.remove_suffix(2);
  return kibibytes(parse_number(folder));
}

struct Mount {
  std::string place;
  std::optional<Bytes> page_size;  // absent: the kernel's default size
};

// hugetlbfs lines of /proc/mounts: "hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0".
std::vector<Mount> hugetlbfs_mounts(const RootedPath& host) {
  std::vector<Mount> mounts;
  std::istringstream lines(read_file(host("/proc/mounts")).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string device, place, type, options;
    fields >> device >> place >> type >> options;
    if (type != "hugetlbfs") continue;
    Mount mount{place, std::nullopt};
    if (const std::size_t at = options.find("pagesize="); at != std::string::npos) {
      const std::string size = options.substr(at + 9);
      mount.page_size = parse_mount_page_size(size.substr(0, size.find(',')));
      if (!mount.page_size) continue;  // a size we cannot name is no size that a pool has
    }
    mounts.push_back(mount);
  }
  return mounts;
}

// "Hugepagesize:    2048 kB" of /proc/meminfo.
std::optional<Bytes> default_page_size(const RootedPath& host) {
  std::istringstream lines(read_file(host("/proc/meminfo")).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    std::int64_t kib = 0;
    if (fields >> name >> kib && name == "Hugepagesize:") return kibibytes(kib);
  }
  return std::nullopt;
}

std::vector<std::int64_t> free_per_node(const RootedPath& host, const std::string& pool) {
  std::vector<std::int64_t> free;
  for (int node = 0;; ++node) {
    const auto pages = read_number(
        host(fmt::format("/sys/devices/system/node/node{}/hugepages/{}/free_hugepages", node, pool)));
    if (!pages) return free;
    free.push_back(*pages);
  }
}

}  // namespace

Observed<std::vector<HugepagePool>> read_hugepages(const RootedPath& host) {
  const std::string folder = "/sys/kernel/mm/hugepages";
  const Expected<std::vector<std::string>> names = list_directory(host(folder));
  if (!names) return unavailable(names.error());
  const std::vector<Mount> mounts = hugetlbfs_mounts(host);
  const std::optional<Bytes> default_size = default_page_size(host);
  std::vector<HugepagePool> pools;
  for (const std::string& name : *names) {
    const std::optional<Bytes> size = page_size_of(name);
    const auto reserved = read_number(host(folder + "/" + name + "/nr_hugepages"));
    const auto free = read_number(host(folder + "/" + name + "/free_hugepages"));
    if (!size) continue;
    if (!reserved || !free) return failed(fmt::format("{}/{}: no number of pages", folder, name));
    HugepagePool pool{.page_size = *size, .reserved = *reserved, .free = *free};
    pool.free_per_node = free_per_node(host, name);
    for (const Mount& mount : mounts) {
      const std::optional<Bytes> mounted = mount.page_size ? mount.page_size : default_size;
      if (mounted == size) pool.mounts.push_back(mount.place);
    }
    pools.push_back(std::move(pool));
  }
  std::sort(pools.begin(), pools.end(),
            [](const HugepagePool& a, const HugepagePool& b) { return a.page_size < b.page_size; });
  return pools;
}

Observed<std::vector<Driver>> read_drivers(const RootedPath& host, const std::string& folder) {
  const Expected<std::vector<std::string>> names = list_directory(host(folder));
  if (!names) return unavailable(names.error());
  constexpr std::string_view kPrefix = "librte_net_";
  constexpr std::string_view kSuffix = ".so";  // the versioned names beside it are the same file
  std::vector<Driver> drivers;
  for (const std::string& name : *names) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const std::size_t length = name.size() - kPrefix.size() - kSuffix.size();
    drivers.push_back({name.substr(kPrefix.size(), length), folder + "/" + name});
  }
  return drivers;
}

Requirement hugepage_requirement(const Observed<std::vector<HugepagePool>>& pools) {
  Requirement requirement{.what = "free huge pages on a hugetlbfs mount"};
  if (!pools) {
    requirement.evidence = pools.error().why;
    const bool is_absent = pools.error().kind == Unavailable::Kind::absent;
    requirement.state = is_absent ? Requirement::State::unmet : Requirement::State::not_known;
    return requirement;
  }
  requirement.state = Requirement::State::unmet;
  for (const HugepagePool& pool : *pools) {
    if (pool.free > 0 && !pool.mounts.empty()) requirement.state = Requirement::State::met;
    requirement.evidence += fmt::format("{}{} x {} free of {}{}", requirement.evidence.empty() ? "" : "; ",
                                        pool.free, to_text(pool.page_size), pool.reserved,
                                        pool.mounts.empty() ? ", not mounted" : " on " + pool.mounts.front());
  }
  if (requirement.evidence.empty()) requirement.evidence = "this kernel has no huge page size";
  return requirement;
}

Requirement driver_requirement(const Observed<std::vector<Driver>>& drivers) {
  Requirement requirement{.what = "a driver for ports"};
  if (!drivers) {
    requirement.evidence = drivers.error().why;
    const bool is_absent = drivers.error().kind == Unavailable::Kind::absent;
    requirement.state = is_absent ? Requirement::State::unmet : Requirement::State::not_known;
  } else {
    requirement.state = drivers->empty() ? Requirement::State::unmet : Requirement::State::met;
    requirement.evidence = fmt::format("{} of them installed", drivers->size());
  }
  return requirement;
}

Requirement runtime_folder_requirement(const RootedPath& host) {
  Requirement requirement{.what = "a writable folder for run-time files"};
  // EAL makes <runtime>/dpdk; as root <runtime> is /var/run, which is /run.
  const std::string folder = "/run";
  const bool writable = access(host(folder).c_str(), W_OK | X_OK) == 0;
  requirement.state = writable ? Requirement::State::met : Requirement::State::unmet;
  requirement.evidence = folder + (writable ? " is writable" : ": " + errno_text(errno));
  return requirement;
}

Requirement vfio_requirement(const RootedPath& host) {
  Requirement requirement{.what = "VFIO behind an IOMMU"};
  const bool device = path_exists(host("/dev/vfio/vfio"));
  const Expected<std::vector<std::string>> groups = list_directory(host("/sys/kernel/iommu_groups"));
  const std::size_t count = groups ? groups->size() : 0;
  requirement.state = device && count > 0 ? Requirement::State::met : Requirement::State::unmet;
  requirement.evidence =
      fmt::format("/dev/vfio/vfio is {}, {} IOMMU groups", device ? "there" : "absent", count);
  return requirement;
}

}  // namespace rocetune::dpdk
