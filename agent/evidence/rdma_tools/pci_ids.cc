// What PCI ids tell about virtualization. Source: pci.ids (https://pci-ids.ucw.cz), read 2026-11.
#include <algorithm>
#include <array>

#include "agent/evidence/rdma_tools/lspci.h"

namespace rocetune::evidence {
namespace {

// Virtual functions of NICs that carry RDMA.
constexpr std::array<std::string_view, 31> kVirtualFunctions{
    "15b3:1002", "15b3:1004", "15b3:1012", "15b3:1014", "15b3:1016", "15b3:1018", "15b3:101a", "15b3:101c",
    "15b3:101e", "15b3:a2d3",  // ConnectX, BlueField
    "14e4:1606", "14e4:1609", "14e4:16c1", "14e4:16cb", "14e4:16d3", "14e4:16dc", "14e4:16e1", "14e4:16e5",
    "14e4:16e9", "14e4:1806", "14e4:1807", "14e4:1808", "14e4:1809", "14e4:1819",  // NetXtreme-C and -E
    "8086:1889", "8086:154c", "8086:37cd", "8086:145c",  // Intel adaptive VF and kin
    "1077:1664", "1077:8090", "1dd8:1003"};              // FastLinQ, DSC
// Bridges and devices that exist only inside hypervisors. 104c:8232 stands in guests of a public cloud.
constexpr std::array<std::string_view, 8> kEmulated{"1b36:0001", "1b36:000b", "1b36:000c", "1b36:000e",
                                                    "1b36:0008", "104c:8232", "15ad:07a0", "15ad:0790"};

}  // namespace

bool is_virtual_function_id(std::string_view id) {
  return std::find(kVirtualFunctions.begin(), kVirtualFunctions.end(), id) != kVirtualFunctions.end();
}

bool is_emulated_id(std::string_view id) {
  return id.starts_with("1af4:") || id.starts_with("1414:") ||
         std::find(kEmulated.begin(), kEmulated.end(), id) != kEmulated.end();
}

}  // namespace rocetune::evidence
