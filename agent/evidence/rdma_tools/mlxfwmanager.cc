#include "agent/evidence/rdma_tools/mlxfwmanager.h"

#include <algorithm>
#include <array>

#include "agent/evidence/rdma_tools/scan.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace mlxfwmanager_text {
namespace {

constexpr std::size_t kMostAdapters = 1024;
constexpr std::array<std::string_view, 6> kAnchors{
    "Device Type:", "Part Number:", "PSID:", "PCI Device Name:", "Querying Mellanox", "FW Version:"};
constexpr std::array<std::string_view, 19> kKeys{"Device Type",
                                                 "Part Number",
                                                 "Description",
                                                 "PSID",
                                                 "PCI Device Name",
                                                 "Base GUID",
                                                 "Base MAC",
                                                 "Port1 GUID",
                                                 "Port2 GUID",
                                                 "Port1 MAC",
                                                 "Port2 MAC",
                                                 "Versions",
                                                 "Status",
                                                 "Image type",
                                                 "FW Version",
                                                 "FW Release Date",
                                                 "Product Version",
                                                 "Security Attributes",
                                                 "Default Update Method"};

bool begins(const Line& line, const Context&) {
  const std::string_view text = trimmed(line.text);
  if (text.starts_with("Querying Mellanox devices")) return true;
  const auto [key, value] = split_at(text, ':');
  if (value.empty()) return false;
  return key == "Device Type" || key == "Part Number" || key == "PSID" || key == "PCI Device Name" ||
         key == "FW Version";
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (text.empty()) return Verdict::not_mine;
    if (text.starts_with("Querying Mellanox devices")) return Verdict::mine;
    if (text.starts_with("Device #") && text.ends_with(':')) {
      if (prompts_.is_other_host()) return Verdict::next_document;
      add(line.number);
      return Verdict::mine;
    }
    if (text.find_first_not_of('-') == std::string_view::npos) return Verdict::mine;
    const auto words = host::words(text);
    if (words[0] == "FW" && words.size() >= 2 && words[1] != "(Running)" && words[1] != "Version:" &&
        words.size() <= 4) {
      take_firmware(words[1], words.size() > 2 ? words[2] : std::string_view(), line.number);
      return Verdict::mine;
    }
    if (words[0] == "FW" || words[0] == "CLP" || words[0] == "PXE" || words[0] == "UEFI" ||
        words[0] == "Rom" || words[0] == "Found")
      return list_.adapters.empty() ? Verdict::not_mine : Verdict::mine;
    const auto [key, value] = split_at(text, ':');
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) return Verdict::not_mine;
    take_value(key, value, line.number);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    list_.adapters.erase(std::remove_if(list_.adapters.begin(), list_.adapters.end(),
                                        [](const AdapterFirmware& a) {
                                          return a.psid.empty() && a.type.empty() && a.part_number.empty() &&
                                                 a.firmware.empty();
                                        }),
                         list_.adapters.end());
    if (list_.adapters.empty()) return std::nullopt;
    Document document;
    document.content = std::move(list_);
    return document;
  }

 private:
  void add(int line) {
    if (list_.adapters.size() < kMostAdapters) list_.adapters.emplace_back().line = line;
  }
  AdapterFirmware& adapter(int line) {
    if (list_.adapters.empty()) add(line);
    return list_.adapters.back();
  }

  void take_firmware(std::string_view now, std::string_view available, int line) {
    AdapterFirmware& a = adapter(line);
    if (now == "N/A") return;
    a.firmware = now;
    a.firmware_line = line;
    if (available != "N/A" && available != "--") a.available = available;
  }

  void take_value(std::string_view key, std::string_view value, int line) {
    if (key == "Device Type" && !adapter(line).type.empty()) add(line);
    AdapterFirmware& a = adapter(line);
    if (key == "Device Type") a.type = value;
    if (key == "Part Number") a.part_number = value;
    if (key == "PCI Device Name") a.pci_device = value;
    if (key == "Status") a.status = value;
    if (key == "FW Version") take_firmware(value, {}, line);
    if (key == "PSID") {
      a.psid = value;
      a.psid_line = line;
    }
  }

  AdapterList list_;
  PromptWatch prompts_;
};

}  // namespace
}  // namespace mlxfwmanager_text

Format mlxfwmanager_format() {
  return {.name = "mlxfwmanager",
          .anchors = mlxfwmanager_text::kAnchors,
          .begins = mlxfwmanager_text::begins,
          .open = open_reader<mlxfwmanager_text::Reader>};
}

}  // namespace rocetune::evidence
