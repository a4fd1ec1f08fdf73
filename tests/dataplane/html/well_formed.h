// Whether markup would be read as XML: what a browser repairs silently is a mistake of ours.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace rocetune::html {

class MarkupReader {
 public:
  explicit MarkupReader(std::string_view markup) : rest_(markup) {}
  // What is wrong first; empty if nothing is.
  std::string problem() {
    skip("<!DOCTYPE html>");
    while (problem_.empty() && !rest_.empty()) rest_.front() == '<' ? read_tag() : read_text();
    if (problem_.empty() && !open_.empty()) fail("not closed: " + open_.back());
    return problem_;
  }

 private:
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what + " before: " + std::string(rest_.substr(0, 60));
  }
  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  std::string_view take(std::size_t length) {
    const std::string_view out = rest_.substr(0, length);
    rest_.remove_prefix(out.size());
    return out;
  }
  std::string_view name() {
    std::size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 || rest_[length] == '-'))
      ++length;
    return take(length);
  }
  void check_references(std::string_view text) {
    constexpr std::array<std::string_view, 5> kKnown{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
      if (std::ranges::none_of(kKnown, [&](auto known) { return text.substr(at).starts_with(known); }))
        fail("a bare & in " + std::string(text.substr(0, 60)));
    }
  }
  void read_text() {
    const std::string_view text = take(std::min(rest_.find('<'), rest_.size()));
    // Style and script hold neither: what reads XML reads them as text.
    check_references(text);
  }
  void read_tag() {
    skip("<");
    const bool closes = skip("/");
    const std::string tag(name());
    if (tag.empty()) return fail("a bare <");
    if (closes) {
      if (open_.empty() || open_.back() != tag) return fail("closes nothing: " + tag);
      open_.pop_back();
      if (!skip(">")) fail("no > after " + tag);
      return;
    }
    std::vector<std::string> names;
    while (problem_.empty() && skip(" ")) read_attribute(tag, names);
    if (skip("/>")) return;
    if (!skip(">")) return fail("no > after " + tag);
    open_.push_back(tag);
  }
  void read_attribute(const std::string& tag, std::vector<std::string>& names) {
    const std::string attribute(name());
    if (attribute.empty()) return fail("no attribute in " + tag);
    if (std::ranges::find(names, attribute) != names.end()) return fail("twice: " + attribute);
    names.push_back(attribute);
    if (!skip("=")) return fail("no value of " + attribute);
    const char quote = rest_.empty() ? ' ' : rest_.front();
    if (quote != '\'' && quote != '"') return fail("no quote around " + attribute);
    take(1);
    const std::string_view value = take(std::min(rest_.find(quote), rest_.size()));
    if (value.find('<') != std::string_view::npos) return fail("a bare < in " + attribute);
    check_references(value);
    if (!skip(std::string_view(&quote, 1))) fail("open quote of " + attribute);
  }

  std::string_view rest_;
  std::vector<std::string> open_;
  std::string problem_;
};

inline std::string markup_problem(std::string_view markup) { return MarkupReader(markup).problem(); }

}  // namespace rocetune::html
