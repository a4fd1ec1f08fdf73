// Fixtures of tests/fixtures/texts, read with the formats of one family.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <span>
#include <string>

#include "agent/evidence/dossier.h"
#include "dataplane/base/file.h"
#include "tests/places.h"

namespace rocetune::evidence {

// `name`: below tests/fixtures/texts, "nccl-log/gdr-disabled.txt".
inline TextReading read_fixture(const std::string& name, std::span<const Format> formats) {
  const auto text = read_file(source_root() + "/tests/fixtures/texts/" + name, Bytes(1 << 20));
  EXPECT_TRUE(text) << name;
  return read_text(text.value(), name.substr(name.rfind('/') + 1), formats);
}

// The only document of that format in a reading; nullptr, with a failure, if there is not exactly one.
inline const Document* only(const TextReading& reading, std::string_view format) {
  const Document* found = nullptr;
  for (const Document& document : reading.documents) {
    if (document.format != format) continue;
    EXPECT_EQ(found, nullptr) << "two documents of " << format << " in " << reading.report.name;
    found = &document;
  }
  EXPECT_NE(found, nullptr) << "no " << format << " in " << reading.report.name;
  return found;
}

inline std::map<std::string, double> facts_of(const Document& document) {
  std::map<std::string, double> out;
  for (const Fact& fact : document.facts) out.emplace(fact.name, fact.value);
  return out;
}

// A fixture, its format, and the facts that it gives: all of them.
struct ExpectedFacts {
  const char* file;
  const char* format;
  std::map<std::string, double> facts;
};

inline void expect_facts(const ExpectedFacts& expected, std::span<const Format> formats) {
  SCOPED_TRACE(expected.file);
  const TextReading reading = read_fixture(expected.file, formats);
  const Document* document = only(reading, expected.format);
  if (document == nullptr) return;
  const auto facts = facts_of(*document);
  for (const auto& [name, value] : expected.facts) {
    const auto found = facts.find(name);
    if (found == facts.end()) {
      ADD_FAILURE() << name << " is missing";
      continue;
    }
    EXPECT_NEAR(found->second, value, 1e-6 * std::max(1.0, std::abs(value))) << name;
  }
  for (const auto& [name, value] : facts)
    EXPECT_TRUE(expected.facts.contains(name)) << "also " << name << " = " << value;
}

}  // namespace rocetune::evidence
