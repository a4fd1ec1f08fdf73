// Texts of this family's fixtures, read with its formats.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "agent/evidence/dossier.h"
#include "agent/evidence/rdma_tools/formats.h"
#include "dataplane/base/file.h"
#include "tests/places.h"

namespace rocetune::evidence {

// `name`: below tests/fixtures/texts, "ibstat/one-down.txt".
inline TextReading read_rdma_fixture(const std::string& name) {
  const auto text = read_file(source_root() + "/tests/fixtures/texts/" + name, Bytes(1 << 20));
  EXPECT_TRUE(text) << name;
  return read_text(text ? *text : std::string(), name, rdma_tool_formats());
}

// The first document's content; an empty one, and a failure, if it has another format.
template <class Content>
Content content_of(const TextReading& reading, std::string_view format) {
  if (reading.documents.empty() || reading.documents[0].format != format ||
      reading.documents[0].as<Content>() == nullptr) {
    ADD_FAILURE() << reading.report.name << ": no document of " << format;
    return {};
  }
  return *reading.documents[0].as<Content>();
}

// The value of a fact; nothing if it is not given.
inline std::optional<double> fact_of(const TextReading& reading, std::string_view name) {
  for (const Document& document : reading.documents) {
    for (const Fact& fact : document.facts) {
      if (fact.name == name) return fact.value;
    }
  }
  return std::nullopt;
}

}  // namespace rocetune::evidence
