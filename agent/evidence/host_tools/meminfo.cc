#include "agent/evidence/host_tools/meminfo.h"

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

// "MemTotal:       131072 kB", "HugePages_Total:     512".
bool is_meminfo_line(std::string_view line) {
  const auto [key, value] = split_at(line, ':');
  if (key.empty() || key.front() < 'A' || key.front() > 'Z' || !is_made_of(key, "_()")) return false;
  const std::string_view number = value.ends_with(" kB") ? trimmed(value.substr(0, value.size() - 3)) : value;
  return count_of(number) && (value.ends_with(" kB") || key.starts_with("HugePages_"));
}

class MeminfoReader : public DocumentReader {
 public:
  explicit MeminfoReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (!is_meminfo_line(line.text)) return Verdict::not_mine;
    // Of another host, or at another moment.
    if (lines_ > 0 && trimmed(line.text).starts_with("MemTotal:")) return Verdict::next_document;
    ++lines_;
    return Verdict::mine;
  }
  std::optional<Document> finish() override { return Document(); }

 private:
  int lines_ = 0;
};

bool begins_meminfo(const Line& line, const Context&) { return is_meminfo_line(line.text); }

}  // namespace

Format meminfo_format() {
  static constexpr std::string_view kAnchors[] = {"MemTotal:",     "MemFree:", "MemAvailable:", "HugePages_",
                                                  "Hugepagesize:", "Mlocked:", "Unevictable:",  "SwapTotal:",
                                                  "CommitLimit:",  "Hugetlb:"};
  return {.name = "meminfo",
          .anchors = kAnchors,
          .begins = begins_meminfo,
          .open = open_reader<MeminfoReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
