// Reads a text once, line by line: see format.h for who gets which line.
#include <boost/json/parse_options.hpp>
#include <boost/json/stream_parser.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <list>

#include "agent/evidence/dossier.h"
#include "agent/evidence/file_name.h"

namespace rocetune::evidence {
namespace {

constexpr std::size_t kLongestLine = 64 << 10;  // more of a line is not looked at
constexpr std::size_t kLargestJson = 256 << 20;

// Which formats have an anchor in a line. Every anchor is looked for at its first two bytes, by table.
class AnchorIndex {
 public:
  explicit AnchorIndex(std::span<const Format> formats) {
    for (std::size_t i = 0; i < formats.size(); ++i) {
      for (const std::string_view anchor : formats[i].anchors) {
        const std::uint16_t key = key_of(anchor.data());
        auto& slot = slots_[key];
        if (slot == 0) {
          chains_.emplace_back();
          slot = static_cast<std::uint16_t>(chains_.size());
        }
        chains_[slot - 1].push_back({anchor, i});
      }
      if (formats[i].anchors.empty()) unanchored_.push_back(i);
    }
  }

  // Sets the bit of every format that may begin with this line.
  void find(std::string_view line, std::vector<bool>& hit) const {
    std::fill(hit.begin(), hit.end(), false);
    for (const std::size_t i : unanchored_) hit[i] = true;
    if (line.size() < 2) return;
    const char* const end = line.data() + line.size() - 1;
    for (const char* at = line.data(); at < end; ++at) {
      const std::uint16_t slot = slots_[key_of(at)];
      if (slot == 0) continue;
      for (const Anchor& anchor : chains_[slot - 1]) {
        if (!hit[anchor.format] &&
            line.substr(static_cast<std::size_t>(at - line.data())).starts_with(anchor.text)) {
          hit[anchor.format] = true;
        }
      }
    }
  }

 private:
  struct Anchor {
    std::string_view text;
    std::size_t format;
  };
  static std::uint16_t key_of(const char* at) {
    std::uint16_t key;
    std::memcpy(&key, at, sizeof key);
    return key;
  }

  std::array<std::uint16_t, 65536> slots_{};
  std::vector<std::vector<Anchor>> chains_;
  std::vector<std::size_t> unanchored_;
};

// A document that is being read.
struct Open {
  const Format* format;
  std::unique_ptr<DocumentReader> reader;
  int first_line;
  int last_line;
  std::vector<UnreadLines> taken;  // to be said unread if it comes to nothing
  std::string host;
  std::string command;
};

class TextReader {
 public:
  TextReader(std::string_view text, const std::string& name, std::span<const Format> formats)
      : text_(text), formats_(formats), anchors_(formats), hit_(formats.size()), name_(parts_of_name(name)) {
    out_.report.name = name;
    context_.file = name;
    context_.host = name_.host;
  }

  TextReading read() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size()) {
      if (take_json()) continue;
      take_line(next_line());
    }
    while (!open_.empty()) close(open_.begin());
    out_.report.lines = number_;
    std::stable_sort(out_.documents.begin(), out_.documents.end(),
                     [](const Document& a, const Document& b) { return a.first_line < b.first_line; });
    count_unread();
    return std::move(out_);
  }

 private:
  Line next_line() {
    const char* const begin = text_.data() + at_;
    const std::size_t left = text_.size() - at_;
    const void* newline = std::memchr(begin, '\n', left);
    const std::size_t length =
        newline == nullptr ? left : static_cast<std::size_t>(static_cast<const char*>(newline) - begin);
    at_ += length + (newline == nullptr ? 0 : 1);
    return cleaner_.clean(std::string_view(begin, std::min(length, kLongestLine)), ++number_);
  }

  // Rules and borders of tables say nothing: "-----", "+----+----+", "#".
  static bool is_ornament(std::string_view text) {
    return text.find_first_not_of("-+=|*#_ \t") == std::string_view::npos;
  }

  void take_line(const Line& line) {
    if (line.is_command) {
      if (!line.prompt_host.empty()) context_.host = line.prompt_host;
      context_.command = line.text;
    }
    if (line.is_blank()) {
      if (!open_.empty()) offer(open_.begin(), line);
      return;
    }
    for (auto it = open_.begin(); it != open_.end(); ++it) {
      if (offer(it, line)) return;
    }
    if (begin_document(line)) return;
    if (!is_ornament(line.text)) note_unread(line.number);
  }

  // True if it took the line. The latest taker is asked first from then on.
  bool offer(std::list<Open>::iterator it, const Line& line) {
    switch (it->reader->take(line)) {
      case DocumentReader::Verdict::not_mine:
        return false;
      case DocumentReader::Verdict::mine:
        note_command(*it->format, line);
        note_taken(*it, line.number);
        open_.splice(open_.begin(), open_, it);
        return true;
      case DocumentReader::Verdict::next_document: {
        const Format* format = it->format;
        close(it);
        open(*format, line);
        return true;
      }
    }
    return false;
  }

  bool begin_document(const Line& line) {
    anchors_.find(line.text, hit_);
    for (std::size_t i = 0; i < formats_.size(); ++i) {
      const Format& format = formats_[i];
      if (!hit_[i] || format.begins == nullptr || !format.begins(line, context_)) continue;
      // One that is open already has refused this line: the new one is another of its kind.
      for (auto it = open_.begin(); it != open_.end(); ++it) {
        if (it->format == &format) {
          close(it);
          break;
        }
      }
      if (open(format, line)) return true;
    }
    return false;
  }

  bool open(const Format& format, const Line& line) {
    Open document{&format, format.open(context_), line.number,     line.number,
                  {},      context_.host,         context_.command};
    if (document.reader->take(line) == DocumentReader::Verdict::not_mine) return false;
    note_command(format, line);
    note_taken(document, line.number);
    open_.push_front(std::move(document));
    return true;
  }

  // A command line without a prompt in front tells as well what the output behind it is of.
  void note_command(const Format& format, const Line& line) {
    if (format.name == "command" && !line.is_blank()) context_.command = line.text;
  }

  static void note_taken(Open& document, int number) {
    document.last_line = number;
    // Only to be able to take it back: a document that goes on for long has come to something.
    if (!document.taken.empty() && document.taken.back().last + 1 >= number) {
      document.taken.back().last = number;
    } else if (document.taken.size() < FileReport::kUnreadKept) {
      document.taken.push_back({number, number});
    }
  }

  void close(std::list<Open>::iterator it) {
    auto document = it->reader->finish();
    if (document) {
      finish(std::move(*document), *it->format, it->first_line, it->last_line, it->host, it->command);
    } else {
      unread_.insert(unread_.end(), it->taken.begin(), it->taken.end());
    }
    open_.erase(it);
  }

  void finish(Document document, const Format& format, int first_line, int last_line, const std::string& host,
              const std::string& command) {
    if (document.format.empty()) document.format = format.name;
    document.file = out_.report.name;
    document.first_line = first_line;
    document.last_line = last_line;
    if (!document.host && !host.empty()) document.host = host;
    document.phase = name_.phase;
    document.series = name_.series;
    if (document.command.empty()) document.command = command;
    out_.documents.push_back(std::move(document));
  }

  // ---- JSON ----

  // A JSON value that begins at the start of a line, if a format knows it. What was tried in vain is counted:
  // a text of nothing but brackets must not take quadratic time.
  bool take_json() {
    std::size_t begin = at_;
    while (begin < text_.size() && (text_[begin] == ' ' || text_[begin] == '\t')) ++begin;
    if (begin >= text_.size() || (text_[begin] != '{' && text_[begin] != '[')) return false;
    if (json_in_vain_ > text_.size()) return false;
    const std::string_view rest = text_.substr(begin, kLargestJson);
    boost::json::parse_options options;
    options.max_depth = 64;
    boost::json::stream_parser parser({}, options);
    boost::system::error_code error;
    std::size_t length = parser.write_some(rest.data(), rest.size(), error);
    if (error || !parser.done()) {
      json_in_vain_ += error ? length + 64 : rest.size();
      if (!error && rest.size() > 2 && rest.find('\n') != std::string_view::npos && looks_like_object(rest)) {
        out_.report.remarks.push_back("ends in the middle of JSON");
      }
      return false;
    }
    const boost::json::value json = parser.release();
    while (rest[length - 1] != '}' && rest[length - 1] != ']')
      --length;  // blanks behind it belong to what follows
    const int lines =
        static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                    text_.begin() + static_cast<std::ptrdiff_t>(begin + length), '\n'));
    for (const Format& format : formats_) {
      if (format.from_json == nullptr) continue;
      auto document = format.from_json(json, context_);
      if (!document) continue;
      finish(std::move(*document), format, number_ + 1, number_ + 1 + lines, context_.host, context_.command);
      number_ += lines;
      at_ = begin + length;
      skip_rest_of_line();
      return true;
    }
    json_in_vain_ += length;
    return false;
  }

  static bool looks_like_object(std::string_view rest) {
    const auto next = rest.find_first_not_of(" \t\r\n", 1);
    return next != std::string_view::npos && (rest[next] == '"' || rest[next] == '{');
  }

  void skip_rest_of_line() {
    ++number_;
    const auto newline = text_.find('\n', at_);
    at_ = newline == std::string_view::npos ? text_.size() : newline + 1;
  }

  // ---- what was not read ----

  void note_unread(int number) {
    if (!unread_.empty() && unread_.back().last + 1 == number) {
      unread_.back().last = number;
    } else {
      unread_.push_back({number, number});
    }
  }

  void count_unread() {
    std::sort(unread_.begin(), unread_.end(),
              [](const UnreadLines& a, const UnreadLines& b) { return a.first < b.first; });
    for (const UnreadLines& range : unread_) {
      out_.report.unread += range.last - range.first + 1;
      if (out_.report.unread_lines.size() < FileReport::kUnreadKept)
        out_.report.unread_lines.push_back(range);
    }
  }

  std::string_view text_;
  std::span<const Format> formats_;
  AnchorIndex anchors_;
  std::vector<bool> hit_;
  NameParts name_;
  Context context_;
  LineCleaner cleaner_;
  std::size_t at_ = 0;
  int number_ = 0;
  std::size_t json_in_vain_ = 0;
  std::list<Open> open_;  // the latest taker first
  std::vector<UnreadLines> unread_;
  TextReading out_;
};

}  // namespace

TextReading read_text(std::string_view text, const std::string& name, std::span<const Format> formats) {
  return TextReader(text, name, formats).read();
}

}  // namespace rocetune::evidence
