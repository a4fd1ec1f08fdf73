// A capture file through the observer.
#pragma once

#include <string>

#include "dataplane/tap/observer.h"

namespace rocetune::tap {

// `file` is the content, `name` what messages call it. Error (bad_input): not a capture, or broken in the
// middle; with a file that merely ends early the facts say so.
Expected<TapFacts> analyse_capture(wire::ConstBytes file, const std::string& name,
                                   const ObserverOptions& options);

// A file mapped for reading, for captures larger than anyone wants in memory.
class MappedFile {
 public:
  // Errors: absent, denied, io; bad_input for what is not a regular file.
  static Expected<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();
  wire::ConstBytes bytes() const { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}
  const std::byte* data_;
  std::size_t size_;
};

}  // namespace rocetune::tap
