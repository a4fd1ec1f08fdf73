// Everything that was handed over about one case: files, what was read in them, and how they belong together.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/evidence/document.h"
#include "agent/evidence/format_table.h"
#include "dataplane/base/error.h"

namespace rocetune::evidence {

// Lines of a file that no reader took, first to last.
struct UnreadLines {
  int first = 0;
  int last = 0;
};

struct FileReport {
  std::string name;  // relative
  int lines = 0;
  int unread = 0;                         // lines that are not blank and that no reader took
  std::vector<UnreadLines> unread_lines;  // the first kUnreadKept ranges
  std::vector<std::string> remarks;  // "unreadable: permission denied", "cut: ends in the middle of JSON"
  static constexpr std::size_t kUnreadKept = 1000;
};

// Two documents of the same thing, before and after.
struct Pair {
  const Document* before;
  const Document* after;
  // after - before; nothing if one of them lacks it or it went backwards (a reset).
  std::optional<std::uint64_t> delta(std::string_view name, std::string_view device = {}) const;
};

class Dossier {
 public:
  Dossier() = default;
  Dossier(std::vector<FileReport> files, std::vector<Document> documents);
  Dossier(Dossier&&) = default;
  Dossier& operator=(Dossier&&) = default;
  Dossier(const Dossier&) = delete;  // pairs point into it
  Dossier& operator=(const Dossier&) = delete;

  const std::vector<FileReport>& files() const { return files_; }
  // In the order of files (by name) and lines.
  const std::vector<Document>& documents() const { return documents_; }
  const std::vector<Pair>& pairs() const { return pairs_; }

  // Documents of a format; of a content type (with their contents); pairs of a format.
  std::vector<const Document*> of_format(std::string_view format) const;
  template <class T>
  std::vector<std::pair<const Document*, const T*>> all() const {
    std::vector<std::pair<const Document*, const T*>> out;
    for (const Document& document : documents_) {
      if (const T* content = document.template as<T>()) out.emplace_back(&document, content);
    }
    return out;
  }
  std::vector<const Pair*> pairs_of(std::string_view format) const;

  // Every fact with its "@file", deltas of counters included. A name that a file gives twice counts once: the
  // first.
  std::vector<Fact> facts() const;

 private:
  std::vector<FileReport> files_;
  std::vector<Document> documents_;
  std::vector<Pair> pairs_;
};

// One file's text into documents; what is not understood is in the report.
struct TextReading {
  FileReport report;
  std::vector<Document> documents;
};
TextReading read_text(std::string_view text, const std::string& name, const FormatTable& formats);

}  // namespace rocetune::evidence
