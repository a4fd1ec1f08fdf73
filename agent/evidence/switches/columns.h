// Words, numbers and columns as switches print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "congestion/units.h"

namespace rocetune::evidence {

// Words as host::words cuts them, but single blanks belong to them: heads of tables ("TX OK/DROP", "Port
// Rx").
std::vector<std::string_view> cells_of(std::string_view text);

// "1,234" or "1234"; nothing for "N/A" and other words.
std::optional<std::uint64_t> count_in(std::string_view text);
// "3,4", "0-2,5", "3 4": in this order, expanded; nothing if it is no such list, or one of them is above
// `most`.
std::optional<std::vector<int>> numbers_in(std::string_view text, int most);
std::optional<PrioritySet> priorities_in(std::string_view text);
// "3,4" for commands and JSON.
std::string list_of(PrioritySet priorities);
std::string list_of(const std::vector<int>& numbers, std::string_view separator = ",");
// "146.48 KB", "150 kbytes", "1.43M", "2097152", "1500KB": thousands by 1024 where `binary`.
std::optional<Bytes> size_in(std::string_view text, bool binary);
// DSCPs of a list in which names may stand: "26", "af31,cs6", "24-31".
std::optional<std::vector<Dscp>> dscps_in(std::string_view text);
bool is_rule(std::string_view text);  // of nothing but "-", "=", "+", "|" and blanks

// Whether `word` is a prefix of `full`, at least `least` letters long, as command lines abbreviate.
bool abbreviates(std::string_view word, std::string_view full, std::size_t least);

// "Ethernet1/1-4,Ethernet1/7" as single names; "swp1-3" too. A range that is none is left as it is. At most
// 4096 names.
std::vector<std::string> ports_in(std::string_view text);

// A table with heads over right- or left-aligned columns. A rule of dashes under the heads says where the
// columns are; rows may have been shifted by pasting, so words are counted first.
class Columns {
 public:
  explicit Columns(std::vector<std::string_view> heads);
  std::size_t size() const { return heads_.size(); }
  const std::vector<std::string>& heads() const { return heads_; }
  // The column of that head (exact case); nothing without it.
  std::optional<std::size_t> find(std::string_view head) const;
  void set_rule(std::string_view line);
  // The cells of a row, one for each head; nothing if it is none of this table.
  std::optional<std::vector<std::string_view>> row(std::string_view line) const;

 private:
  std::vector<std::string> heads_;
  std::vector<std::pair<std::size_t, std::size_t>> spans_;  // begin, end
};

}  // namespace rocetune::evidence
