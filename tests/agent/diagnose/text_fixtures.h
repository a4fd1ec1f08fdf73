// One case for each outcome that a row over texts can have: what is handed over, and what the row then says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/diagnose/finding.h"
#include "tests/agent/diagnose/rule_fixtures.h"

namespace rocetune::diagnose {

struct TextFile {
  std::string name;
  std::string content;
};
// No row is told anything by it.
inline const TextFile kNothing{"notes.txt", "it is slow since Monday\n"};

struct TextFixture {
  const char* rule;
  const char* title;  // of its row: an id may have several rows over texts
  Kind kind;
  std::vector<TextFile> files;
  const char* says = "";                            // part of the cause or the reason
  std::optional<Severity> severity = std::nullopt;  // of the worst finding, where it matters
};

// A file of tests/fixtures/texts, under its own name or another: from_texts("bonding/lacp.txt").
TextFile from_texts(const std::string& path, const std::string& name = "");

// What doctor says of these files: read, put together, judged as `doctor --from FOLDER` does.
Report report_of(const std::vector<TextFile>& files);
// What one row says of them.
Report report_of(const std::vector<TextFile>& files, const Rule& row);

// Each family of texts has its own list, in text_fixtures_<family>.cc.
std::vector<TextFixture> host_tool_text_fixtures();
// Parts of the former.
std::vector<TextFixture> loss_text_fixtures();
std::vector<TextFixture> pause_text_fixtures();
std::vector<TextFixture> rdma_tool_text_fixtures();
std::vector<TextFixture> log_text_fixtures();  // with library_text_fixtures
std::vector<TextFixture> library_text_fixtures();
std::vector<TextFixture> benchmark_text_fixtures();
std::vector<TextFixture> switch_text_fixtures();

}  // namespace rocetune::diagnose
