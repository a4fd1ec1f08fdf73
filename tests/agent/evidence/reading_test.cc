#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include "agent/evidence/assembly.h"
#include "agent/evidence/dossier.h"
#include "agent/evidence/file_name.h"

namespace rocetune::evidence {
namespace {

// "NAME VALUE" lines below a "[kind]" header.
class SectionReader : public DocumentReader {
 public:
  explicit SectionReader(const Context& context) : command_(context.command) {}
  Verdict take(const Line& line) override {
    if (line.text.starts_with("== ")) {
      if (has_header_) return Verdict::next_document;
      has_header_ = true;
      return Verdict::mine;
    }
    const auto [name, value] = split_at(line.text, '=');
    if (value.empty()) return Verdict::not_mine;
    document_.counters.push_back({"", std::string(name), std::stoull(std::string(value)), line.number});
    return Verdict::mine;
  }
  std::optional<Document> finish() override {
    if (document_.counters.empty()) return std::nullopt;
    document_.content = command_;
    return std::move(document_);
  }

 private:
  std::string command_;
  bool has_header_ = false;
  Document document_;
};

bool begins_section(const Line& line, const Context&) { return line.text.starts_with("== "); }

std::optional<Document> from_port_json(const boost::json::value& json, const Context&) {
  const auto* object = json.if_object();
  if (object == nullptr || !object->contains("pfc")) return std::nullopt;
  Document out;
  out.add_fact("pfc", 1);
  return out;
}

constexpr std::string_view kAnchors[] = {"== "};
const Format kFormats[] = {
    {.name = "section", .anchors = kAnchors, .begins = begins_section, .open = open_reader<SectionReader>},
    {.name = "port-json", .from_json = from_port_json}};

TextReading read(std::string_view text, const std::string& name = "x.txt") {
  return read_text(text, name, FormatTable(kFormats));
}

TEST(Reading, DocumentsBeginContinueAndAreTold) {
  const TextReading reading = read("hello\n== a\nx=1\nnoise\ny=2\n== b\nx=3\n");
  ASSERT_EQ(reading.documents.size(), 2u);
  EXPECT_EQ(reading.documents[0].find_counter("y")->value, 2u) << "a foreign line in between is no end";
  EXPECT_EQ(reading.documents[0].first_line, 2);
  EXPECT_EQ(reading.documents[0].last_line, 5);
  EXPECT_EQ(reading.documents[1].find_counter("x")->line, 7);
  EXPECT_EQ(reading.report.lines, 7);
  EXPECT_EQ(reading.report.unread, 2);
  ASSERT_EQ(reading.report.unread_lines.size(), 2u);
  EXPECT_EQ(reading.report.unread_lines[1].first, 4);
}

TEST(Reading, ADocumentThatComesToNothingGivesItsLinesBack) {
  const TextReading reading = read("== a\nwords\n");
  EXPECT_TRUE(reading.documents.empty());
  EXPECT_EQ(reading.report.unread, 2);
}

TEST(Reading, PromptsNameHostAndCommand) {
  const TextReading reading = read("root@n1:~# tool -i eth0\n== a\nx=1\nroot@n2:~# tool\n== b\nx=2\n");
  ASSERT_EQ(reading.documents.size(), 2u);
  EXPECT_EQ(reading.documents[0].host, "n1");
  EXPECT_EQ(reading.documents[0].command, "tool -i eth0");
  EXPECT_EQ(reading.documents[1].host, "n2");
}

TEST(Reading, JsonAloneBehindAPromptAndCut) {
  EXPECT_EQ(read("{\"pfc\": [1,\n 2]}\n== a\nx=1\n").documents.size(), 2u);
  const TextReading behind = read("$ dcb -j pfc\n{\"pfc\":{}}\n== a\nx=1\n");
  ASSERT_EQ(behind.documents.size(), 2u);
  EXPECT_EQ(behind.documents[0].first_line, 2);
  EXPECT_EQ(behind.documents[1].counters[0].line, 4);
  const TextReading cut = read("{\"pfc\": [1,\n 2");
  EXPECT_TRUE(cut.documents.empty());
  ASSERT_EQ(cut.report.remarks.size(), 1u);
  EXPECT_EQ(cut.report.remarks[0], "ends in the middle of JSON");
}

TEST(Reading, ManyBracketsTakeNoQuadraticTime) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "{\n";
  EXPECT_EQ(read(text).report.lines, 200000);
}

TEST(Reading, ByteOrderMarkAndMissingNewline) {
  const TextReading reading = read("\xef\xbb\xbf== a\nx=1");
  ASSERT_EQ(reading.documents.size(), 1u);
  EXPECT_EQ(reading.documents[0].counters.size(), 1u);
}

Dossier dossier_of(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<FileReport> reports;
  std::vector<Document> documents;
  for (const auto& [name, text] : files) {
    TextReading reading = read(text, name);
    reports.push_back(std::move(reading.report));
    std::move(reading.documents.begin(), reading.documents.end(), std::back_inserter(documents));
  }
  return Dossier(std::move(reports), std::move(documents));
}

std::optional<double> fact(const Dossier& dossier, const std::string& name) {
  for (const Fact& one : dossier.facts()) {
    if (one.name == name) return one.value;
  }
  return std::nullopt;
}

TEST(Dossier, PairsGiveDeltasUnderTheLaterFilesName) {
  const Dossier dossier =
      dossier_of({{"c.after.txt", "== a\nx=7\ny=1\n"}, {"c.before.txt", "== a\nx=5\ny=3\n"}});
  ASSERT_EQ(dossier.pairs().size(), 1u);
  EXPECT_EQ(fact(dossier, "delta.x@c.after.txt"), 2);
  EXPECT_EQ(fact(dossier, "delta.y@c.after.txt"), std::nullopt) << "it went backwards: no delta";
  EXPECT_EQ(fact(dossier, "counter.x@c.before.txt"), 5);
}

TEST(Dossier, RunsAndHostsAreKeptApart) {
  const Dossier dossier = dossier_of({{"c.node1.after.txt", "== a\nx=7\n"},
                                      {"c.node2.before.txt", "== a\nx=5\n"},
                                      {"c.before-big.txt", "== a\nx=1\n"},
                                      {"c.after.txt", "== a\nx=1\n"}});
  EXPECT_TRUE(dossier.pairs().empty());
}

TEST(Dossier, MomentsInOrder) {
  const Dossier dossier =
      dossier_of({{"c.t2.txt", "== a\nx=9\n"}, {"c.t0.txt", "== a\nx=1\n"}, {"c.t10.txt", "== a\nx=10\n"}});
  ASSERT_EQ(dossier.pairs().size(), 2u);
  EXPECT_EQ(fact(dossier, "delta.x@c.t2.txt"), 8);
  EXPECT_EQ(fact(dossier, "delta.x@c.t10.txt"), 1);
}

// ---- assembly ----

Document about(host::Port port, const std::string& file, const std::string& host = "",
               std::optional<Phase> phase = {}) {
  Document out;
  out.file = file;
  out.series = parts_of_name(file).series;
  if (!host.empty()) out.host = host;
  out.phase = std::move(phase);
  out.host_part.emplace();
  out.host_part->ports.push_back(std::move(port));
  return out;
}

host::Port netdev(const std::string& name, int mtu) {
  host::Port out;
  out.name = name;
  out.mtu = Bytes(mtu);
  return out;
}

host::Port device(const std::string& name) {
  host::Port out;
  host::RdmaPort rdma;
  rdma.device = name;
  out.rdma = rdma;
  return out;
}

host::Port with_pfc(std::uint8_t mask) {
  host::Port out;
  host::Pfc pfc;
  pfc.enabled = PrioritySet(mask);
  out.dcb.pfc = pfc;
  return out;
}

TEST(Assembly, OnePortOfOneHostIsTheSameUnderAllItsNames) {
  std::vector<Document> documents;
  documents.push_back(about(netdev("eth0", 1500), "ip-link.txt"));
  documents.push_back(about(device("mlx5_0"), "devinfo.txt"));
  documents.push_back(about(with_pfc(8), "mlnx_qos.txt"));
  const Dossier dossier({}, std::move(documents));
  const auto hosts = assemble_hosts(dossier);
  ASSERT_EQ(hosts.size(), 1u);
  ASSERT_EQ(hosts[0].host.ports.size(), 1u);
  const host::Port& port = hosts[0].host.ports[0];
  EXPECT_EQ(port.name, "eth0");
  EXPECT_EQ(port.mtu, Bytes(1500));
  EXPECT_EQ(port.rdma->device, "mlx5_0");
  EXPECT_EQ(port.dcb.pfc->enabled.mask(), 8);
}

TEST(Assembly, ANamelessPortBesideSeveralIsOneOfItsOwn) {
  std::vector<Document> documents;
  documents.push_back(about(netdev("eth0", 1500), "ip-link.txt"));
  documents.push_back(about(netdev("eth1", 1500), "ip-link.txt"));
  documents.push_back(about(with_pfc(8), "mlnx_qos.txt"));
  const auto dossier = Dossier({}, std::move(documents));
  const auto hosts = assemble_hosts(dossier);
  ASSERT_EQ(hosts[0].host.ports.size(), 3u);
  EXPECT_EQ(hosts[0].host.ports[2].name, "port of mlnx_qos.txt");
}

TEST(Assembly, HostsAndStatesAreKeptApartEqualStatesAreOne) {
  const Phase before{Phase::Kind::before, "before", 0, "", {}}, after{Phase::Kind::after, "after", 0, "", {}};
  std::vector<Document> documents;
  documents.push_back(about(with_pfc(0), "q.before.txt", "n1", before));
  documents.push_back(about(with_pfc(8), "q.after.txt", "n1", after));
  documents.push_back(about(with_pfc(8), "q.before.txt", "n2", before));
  documents.push_back(about(with_pfc(8), "q.after.txt", "n2", after));
  const auto dossier = Dossier({}, std::move(documents));
  const auto hosts = assemble_hosts(dossier);
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[0].host.name, "n1 (before)");
  EXPECT_EQ(hosts[1].host.name, "n1 (after)");
  EXPECT_EQ(hosts[2].host.name, "n2");
}

TEST(Assembly, TextsThatSayNothingOfAHostMakeNone) {
  std::vector<Document> documents(1);
  documents[0].file = "nccl.log";
  const auto dossier = Dossier({}, std::move(documents));
  EXPECT_TRUE(assemble_hosts(dossier).empty());
}

}  // namespace
}  // namespace rocetune::evidence
