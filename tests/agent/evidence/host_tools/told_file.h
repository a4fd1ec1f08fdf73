// A fixture of tests/fixtures/texts as the readers of host tools see it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "agent/evidence/dossier.h"
#include "agent/evidence/host_tools/formats.h"
#include "tests/places.h"

namespace rocetune::evidence {

struct ToldFile {
  TextReading reading;

  explicit ToldFile(const std::string& name) {
    std::ifstream file(source_root() + "/tests/fixtures/texts/" + name, std::ios::binary);
    EXPECT_TRUE(file) << name;
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    // As it would be named in a folder: without the folder of its format.
    reading = read_text(text, name.substr(name.find('/') + 1), host_tool_formats());
  }
  const std::vector<Document>& documents() const { return reading.documents; }
  const Document& only() const {
    EXPECT_EQ(documents().size(), 1U);
    static const Document kNone;
    return documents().empty() ? kNone : documents().front();
  }
  const host::Port& port(std::size_t document = 0, std::size_t index = 0) const {
    return documents().at(document).host_part.value().ports.at(index);
  }
};

inline std::map<std::string, double> facts_in(const Document& document) {
  std::map<std::string, double> out;
  for (const Fact& fact : document.facts) out.emplace(fact.name, fact.value);
  return out;
}

}  // namespace rocetune::evidence
