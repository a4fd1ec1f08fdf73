#include "agent/counters/counter_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "dataplane/base/file.h"

namespace rocetune::counters {
namespace {

constexpr std::string_view kLifespan = "lifespan";
// Longer than any 64-bit number; sysfs never prints more than one.
constexpr std::size_t kValueLimit = 64;

}  // namespace

std::optional<std::uint64_t> parse_counter(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\0'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct HwCounterFiles::File {
  Descriptor descriptor;
};

HwCounterFiles::HwCounterFiles(std::string folder, const Clock& clock)
    : folder_(std::move(folder)), clock_(clock) {}
HwCounterFiles::~HwCounterFiles() = default;

Expected<> HwCounterFiles::open_all() {
  files_.clear();
  auto entries = list_directory(folder_);
  if (!entries) return tl::unexpected(entries.error());
  auto names = std::make_shared<NameList>();
  lifespan_ = Duration();
  for (const std::string& name : *entries) {
    if (name == kLifespan) {
      const auto text = read_attribute(folder_ + "/" + name);
      const auto milliseconds_cached = text ? parse_counter(*text) : std::nullopt;
      // The kernel allows 0 to 10000 (drivers/infiniband/core/sysfs.c, hw_stat lifespan).
      if (milliseconds_cached && *milliseconds_cached <= 10'000) {
        lifespan_ = milliseconds(static_cast<std::int64_t>(*milliseconds_cached));
      }
      continue;
    }
    const std::string path = folder_ + "/" + name;
    const int fd = retry_interrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); });
    if (fd < 0) return fail_os(errno, "{}", path);
    files_.push_back({Descriptor(fd)});
    names->names.push_back(name);
  }
  if (names_ == nullptr || names_->names != names->names) names_ = std::move(names);
  is_open_ = true;
  return {};
}

Expected<> HwCounterFiles::read_all(Block& block) {
  block.values.resize(files_.size());
  char text[kValueLimit];
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto size =
        retry_interrupted([&] { return pread(files_[i].descriptor.fd(), text, sizeof text, 0); });
    if (size < 0) return fail_os(errno, "{}/{}", folder_, names_->names[i]);
    const auto value = parse_counter({text, static_cast<std::size_t>(size)});
    if (!value) {
      return fail(ErrorKind::io, "{}/{}: found \"{}\", allowed: one number", folder_, names_->names[i],
                  std::string_view(text, static_cast<std::size_t>(size)));
    }
    block.values[i] = *value;
  }
  block.names = names_;
  return {};
}

Expected<> HwCounterFiles::read(Block& block) {
  const Instant begin = clock_.now();
  // A device that was unloaded and came back has new files: the old descriptors say ENODEV.
  auto status = is_open_ ? read_all(block) : open_all().and_then([&] { return read_all(block); });
  if (!status) {
    is_open_ = false;
    status = open_all().and_then([&] { return read_all(block); });
    if (!status) {
      is_open_ = false;
      return status;
    }
  }
  block.at = middle(begin, clock_.now());
  block.resolution = lifespan_;
  return {};
}

}  // namespace rocetune::counters
