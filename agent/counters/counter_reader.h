// One source of one port's counters: where the numbers come from is a choice made once, when the readers are
// put together (live_readers.h for a running kernel, anything else for tests and benchmarks).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/counters/reading.h"
#include "dataplane/base/clock.h"

namespace rocetune::counters {

// When a read happened that began and ended at these moments.
constexpr Instant middle(Instant begin, Instant end) { return begin + (end - begin) / 2; }

class CounterReader {
 public:
  virtual ~CounterReader() = default;
  // Reads all values. `block.names` is the same object as before while the names did not change; the values'
  // memory is reused. Errors: conflict if the names changed under the read (ask again); others: the source is
  // not there, denied, broken.
  virtual Expected<> read(Block& block) = 0;
  // Called when something changed that is known to change names (PFC or pause settings): the next read looks
  // at the names again although their number is the same.
  virtual void forget_names() {}
  // A number that changes with settings that decide which counters exist; as of the last read.
  virtual std::uint64_t configuration() const { return 0; }
};

// The kernel's RDMA counters as files, hw_counters of one port: for kernels or namespaces where netlink does
// not answer, and for fixture trees. Files stay open and are read by pread(2) at 0, which makes sysfs compute
// the value anew; the folder is listed again when one of them fails.
class HwCounterFiles : public CounterReader {
 public:
  // `folder`: ".../infiniband/mlx5_0/ports/1/hw_counters".
  HwCounterFiles(std::string folder, const Clock& clock);
  ~HwCounterFiles() override;
  Expected<> read(Block& block) override;
  void forget_names() override { is_open_ = false; }

 private:
  struct File;
  Expected<> open_all();
  Expected<> read_all(Block& block);

  std::string folder_;
  const Clock& clock_;
  bool is_open_ = false;
  std::vector<File> files_;
  std::shared_ptr<const NameList> names_;
  Duration lifespan_;
};

// A counter as the kernel prints it: decimal digits, blanks around. Nothing for anything else, or more than
// 64 bits.
std::optional<std::uint64_t> parse_counter(std::string_view text);

}  // namespace rocetune::counters
