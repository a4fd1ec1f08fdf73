// A page: one file that needs nothing else, in light and in dark, on paper and on a telephone.
#pragma once

#include <string>
#include <string_view>

namespace rocetune::html {

struct Page {
  std::string title;  // of the window and above the page
  std::string body;   // markup
  // With the script that shows the values under the pointer in every chart of time (lanes.h). The page says
  // everything without it.
  bool reads_out = false;
};
std::string page_text(const Page& page);

// What is good, worth a look, or wrong, said in a line at the top. `markup` is markup.
enum class Verdict { good, warn, bad };
std::string verdict_line(Verdict verdict, std::string_view markup);

// A number that is looked at first.
struct Tile {
  std::string title;
  std::string value;
  std::string note = {};
  bool is_notable = false;  // worth a second look
};
class Tiles {
 public:
  void add(const Tile& tile);
  std::string text() const;

 private:
  std::string tiles_;
};

}  // namespace rocetune::html
