// Reads a text once, line by line: see format.h for who gets which line.
#include <boost/json/parse_options.hpp>
#include <boost/json/stream_parser.hpp>

#include <algorithm>
#include <cstring>
#include <list>

#include "agent/evidence/dossier.h"
#include "agent/evidence/file_name.h"
#include "agent/evidence/format_table.h"
#include "agent/evidence/host_marks.h"

namespace rocetune::evidence {
namespace {

constexpr std::size_t kLongestLine = 64 << 10;  // more of a line is not looked at
constexpr std::size_t kLargestJson = 256 << 20;

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
  TextReader(std::string_view text, const std::string& name, const FormatTable& formats)
      : text_(text), formats_(formats), name_(parts_of_name(name)) {
    out_.report.name = name;
    context_.file = name;
    context_.host = name_.host;
  }

  // One host's lines of a file that holds several hosts'.
  TextReader(const HostLines& lines, const std::string& name, const FormatTable& formats)
      : TextReader(lines.text, name, formats) {
    context_.host = lines.host;
    numbers_ = &lines.numbers;
  }

  TextReading read() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size()) {
      if (take_json()) continue;
      take_line(next_line());
    }
    close_all();
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
    ++number_;
    return cleaner_.clean(std::string_view(begin, std::min(length, kLongestLine)), in_file(number_));
  }

  // The number in the file of a line of this text.
  int in_file(int number) const {
    if (numbers_ == nullptr || numbers_->empty()) return number;
    const auto at = static_cast<std::size_t>(number) - 1;
    return at < numbers_->size() ? (*numbers_)[at] : numbers_->back();
  }

  // Rules and borders of tables say nothing: "-----", "+----+----+", "#".
  static bool is_ornament(std::string_view text) {
    return text.find_first_not_of("-+=|*#_ \t") == std::string_view::npos;
  }

  void take_line(Line line) {
    // dshbak: a rule of dashes, the host, a rule of dashes.
    if (after_rule_ && is_bare_host(line.text)) {
      line.prompt_host = line.text;
      line.text = {};
      line.is_command = true;
    }
    constexpr std::size_t kShortestRule = 10;
    after_rule_ = line.text.size() >= kShortestRule && line.text.find_first_not_of('-') == line.text.npos;
    if (line.is_command) {
      const bool is_heading = line.is_blank() && !line.prompt_host.empty();
      if (is_heading && line.prompt_host != context_.host) close_all();
      if (!line.prompt_host.empty()) context_.host = line.prompt_host;
      context_.command = line.text;
      if (is_heading) return;
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
    formats_.find(line.text, may_begin_);
    for (std::size_t i = 0; i < may_begin_.size(); ++i) {
      const Format& format = formats_.formats()[i];
      if (!may_begin_[i] || format.begins == nullptr || !format.begins(line, context_)) continue;
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

  void close_all() {
    while (!open_.empty()) close(open_.begin());
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
    // "[    8.387840] ...", "[0] NCCL INFO ...": no format is a list of anything but objects.
    if (rest.front() == '[' && !looks_like_object(rest)) return false;
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
    for (const Format& format : formats_.formats()) {
      if (format.from_json == nullptr) continue;
      auto document = format.from_json(json, context_);
      if (!document) continue;
      finish(std::move(*document), format, in_file(number_ + 1), in_file(number_ + 1 + lines), context_.host,
             context_.command);
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
  const FormatTable& formats_;
  std::vector<bool> may_begin_;  // of the line that no open document took
  NameParts name_;
  Context context_;
  LineCleaner cleaner_;
  std::size_t at_ = 0;
  bool after_rule_ = false;                    // the line before was nothing but dashes
  int number_ = 0;                             // of the line read last, in this text
  const std::vector<int>* numbers_ = nullptr;  // of lines in the file; nullptr: the text is the whole file
  std::size_t json_in_vain_ = 0;
  std::list<Open> open_;  // the latest taker first
  std::vector<UnreadLines> unread_;
  TextReading out_;
};

}  // namespace

TextReading read_text(std::string_view text, const std::string& name, const FormatTable& formats) {
  const std::vector<HostLines> hosts = split_by_host(text);
  if (hosts.empty()) return TextReader(text, name, formats).read();
  TextReading out;
  out.report.name = name;
  for (const HostLines& lines : hosts) {
    TextReading one = TextReader(lines, name, formats).read();
    out.report.lines += one.report.lines;
    out.report.unread += one.report.unread;
    auto& unread = out.report.unread_lines;
    unread.insert(unread.end(), one.report.unread_lines.begin(), one.report.unread_lines.end());
    out.report.remarks.insert(out.report.remarks.end(), one.report.remarks.begin(), one.report.remarks.end());
    std::move(one.documents.begin(), one.documents.end(), std::back_inserter(out.documents));
  }
  if (out.report.unread_lines.size() > FileReport::kUnreadKept)
    out.report.unread_lines.resize(FileReport::kUnreadKept);
  return out;
}

}  // namespace rocetune::evidence
