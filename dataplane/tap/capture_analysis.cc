#include "dataplane/tap/capture_analysis.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "dataplane/base/file.h"
#include "dataplane/tap/capture_reader.h"

namespace rocetune::tap {
namespace {
// A Duration holds about 106 days, and two frames may lie this far on either side of the first; a file may
// claim anything.
constexpr std::int64_t kMaxSpanNs = std::int64_t{50} * 86'400 * 1'000'000'000;
}  // namespace

Expected<TapFacts> analyse_capture(wire::ConstBytes file, const std::string& name,
                                   const ObserverOptions& options) {
  auto reader = CaptureReader::open(file, name);
  if (!reader) return tl::unexpected(reader.error());
  Observer observer(options);
  std::optional<std::int64_t> first;
  for (;;) {
    const auto frame = reader->next();
    if (!frame) return tl::unexpected(frame.error());
    if (!*frame) break;
    if (!first) first = (*frame)->time_ns;
    std::int64_t since{};
    if (__builtin_sub_overflow((*frame)->time_ns, *first, &since)) since = kMaxSpanNs;
    since = std::clamp(since, -kMaxSpanNs, kMaxSpanNs);
    observer.observe((*frame)->link, (*frame)->bytes, (*frame)->original_size, Instant(nanoseconds(since)));
  }
  if (reader->is_truncated()) observer.note_truncated();
  return observer.facts();
}

Expected<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file(retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.is_open()) return fail_os(errno, "{}", path);
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) return fail_os(errno, "{}", path);
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::bad_input, "{}: not a regular file", path);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (data == MAP_FAILED) return fail_os(errno, "{}: mmap", path);
  return MappedFile(static_cast<const std::byte*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace rocetune::tap
