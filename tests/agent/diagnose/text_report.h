// What the rules say about texts: as `doctor --from` of a folder with these files.
#pragma once

#include <string>
#include <vector>

#include "agent/diagnose/engine.h"

namespace rocetune::diagnose {

struct Text {
  std::string name;
  std::string content;
};

Report report_of_texts(const std::vector<Text>& texts);

// A file of tests/fixtures/texts, named as in a folder: without the folder of its format.
Text text_fixture(const std::string& name);

}  // namespace rocetune::diagnose
