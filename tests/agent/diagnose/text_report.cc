#include "tests/agent/diagnose/text_report.h"

#include <fstream>
#include <iterator>

#include "agent/counters/schema.h"
#include "agent/evidence/assembly.h"
#include "agent/evidence/catalogue/catalogue.h"
#include "tests/agent/diagnose/host_builder.h"
#include "tests/places.h"

namespace rocetune::diagnose {
namespace {

const counters::Schema& test_schema() {
  static const counters::Schema kSchema = counters::Schema::load(ConfigFiles()).value();
  return kSchema;
}

const host::NicTable& test_nics() {
  static const host::NicTable kNics = host::NicTable::load(ConfigFiles()).value();
  return kNics;
}

}  // namespace

Report report_of_texts(const std::vector<Text>& texts) {
  std::vector<evidence::FileReport> files;
  std::vector<evidence::Document> documents;
  for (const Text& text : texts) {
    evidence::TextReading reading = evidence::read_text(text.content, text.name, evidence::all_formats());
    files.push_back(std::move(reading.report));
    for (evidence::Document& document : reading.documents) documents.push_back(std::move(document));
  }
  const evidence::Dossier dossier(std::move(files), std::move(documents));
  std::vector<evidence::AssembledHost> assembled = evidence::assemble_hosts(dossier);
  std::vector<JudgedHost> hosts;
  for (evidence::AssembledHost& one : assembled) {
    host::name_nics(one.host, test_nics());
    hosts.push_back({&one.host, nullptr, true});
  }
  const std::vector<CountedPort> counted = counted_ports(dossier, test_schema());
  return diagnose({hosts, {}, test_policy(), {}, {}, &dossier, counted});
}

Text text_fixture(const std::string& name) {
  std::ifstream file(source_root() + "/tests/fixtures/texts/" + name, std::ios::binary);
  return {name.substr(name.find('/') + 1), std::string((std::istreambuf_iterator<char>(file)), {})};
}

}  // namespace rocetune::diagnose
