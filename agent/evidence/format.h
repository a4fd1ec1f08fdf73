// How a format is recognised and read. A format is a row of a table; its reader is made for each document.
//
// Text is read line by line, once. Documents may interleave: a benchmark's table with a library's log lines
// in between is two documents. A line is offered to the open documents, the latest taken first; if none takes
// it, to the formats in the order of the table; if none begins with it, it is said to be unread.
#pragma once

#include <boost/json/value.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agent/evidence/document.h"
#include "agent/evidence/line.h"

namespace rocetune::evidence {

// What is known where a document begins.
struct Context {
  std::string file;     // relative; its name may decide where content cannot ("{}" in hostB.app.json)
  std::string host;     // of the prompt in front, or of the file name; empty: not known
  std::string command;  // behind the latest prompt; empty: none
};

class DocumentReader {
 public:
  virtual ~DocumentReader() = default;

  enum class Verdict {
    not_mine,
    mine,
    next_document,  // mine, but it begins another document of this format
  };
  // Must be cheap for foreign lines, and must not take what it does not understand. Never called with a line
  // again that it has refused. Blank lines are offered to the latest reader only, and may be refused.
  virtual Verdict take(const Line& line) = 0;
  // What was read; nothing if it came to nothing: its lines are then unread. The caller fills in file, lines,
  // host (unless it is set), phase and series.
  virtual std::optional<Document> finish() = 0;
};

struct Format {
  std::string_view name;  // of docs/inputs.md
  // Texts one of which a line must hold for a document to begin there (compared with exact case); empty:
  // every line is asked. They spare calls: what they let through is still judged by `begins`. 3 bytes or more
  // each.
  std::span<const std::string_view> anchors;
  // Whether a document begins with this line; the line is then given to the reader first. nullptr: JSON only.
  bool (*begins)(const Line& line, const Context& context) = nullptr;
  std::unique_ptr<DocumentReader> (*open)(const Context& context) = nullptr;
  // A JSON value (a whole file, or what stands behind a prompt) as a document: an object, or a list of
  // objects. nullptr: has no JSON form.
  std::optional<Document> (*from_json)(const boost::json::value& json, const Context& context) = nullptr;
};

// The usual reader: `Reader` has take(const Line&), finish() and a constructor from Context.
template <class Reader>
std::unique_ptr<DocumentReader> open_reader(const Context& context) {
  return std::make_unique<Reader>(context);
}

}  // namespace rocetune::evidence
