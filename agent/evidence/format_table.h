// Formats in the order in which they are asked, prepared for many texts.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "agent/evidence/format.h"
#include "agent/evidence/text_index.h"

namespace rocetune::evidence {

class FormatTable {
 public:
  // The formats outlive the table.
  FormatTable(std::span<const Format> formats) : formats_(formats) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < formats.size(); ++i) {
      for (const std::string_view anchor : formats[i].anchors) anchors_.add(anchor, i);
      if (formats[i].anchors.empty()) unanchored_.push_back(i);
    }
  }

  std::span<const Format> formats() const { return formats_; }
  // Sets the bit of every format that may begin with this line, and clears the others. One bit a format.
  void find(std::string_view line, std::vector<bool>& may_begin) const {
    may_begin.assign(formats_.size(), false);
    for (const std::size_t i : unanchored_) may_begin[i] = true;
    anchors_.find(line, may_begin);
  }

 private:
  std::span<const Format> formats_;
  std::vector<std::size_t> unanchored_;
  TextIndex anchors_;
};

}  // namespace rocetune::evidence
