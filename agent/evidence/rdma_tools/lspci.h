// lspci, whole (-vvv, -nn, -tv) or grepped (LnkSta, ACSCtl and the like without their device line).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/evidence/format.h"
#include "congestion/units.h"

namespace rocetune::evidence {

// One PCI function, or what stands between two device lines that grep took away.
struct PciFunction {
  std::string address;  // as printed: "19:00.0", "0000:19:00.0"; empty: grepped without it
  std::string text;     // "Ethernet controller: Broadcom Inc. and subsidiaries BCM57412 ..."
  std::string id;       // "15b3:101e" where numbers are printed
  bool is_network = false, is_gpu = false, is_bridge = false;
  bool is_virtual_function = false;
  bool is_emulated = false;                         // made by a hypervisor: QEMU, Virtio, VMware, Hyper-V
  std::optional<int> width_lanes, max_width_lanes;  // LnkSta, LnkCap; 0: the link is not told
  std::optional<double> speed_gt_per_s, max_speed_gt_per_s;  // absent where lspci says "unknown"
  bool speed_unknown = false;
  std::optional<bool> acs_redirects;     // ACSCtl: ReqRedir, CmpltRedir or UpstreamFwd is on
  std::optional<bool> acs_validates;     // ACSCtl: SrcValid
  std::optional<bool> ats_enabled;       // ATSCtl
  std::optional<bool> relaxed_ordering;  // DevCtl
  std::optional<Bytes> max_read_request, max_payload;
  std::optional<int> numa_node;
  std::string driver;
  int line = 0, width_line = 0, acs_line = 0, ordering_line = 0, request_line = 0;

  // "19:00.0", or "a PCI function" where grep left no name.
  std::string name() const { return address.empty() ? "a PCI function" : address; }
};

struct PciListing {
  std::vector<PciFunction> functions;
  bool is_whole = false;  // a listing of functions, not a grep
};

// Whether a vendor and device id ("15b3:101e") is a virtual function's or an emulated bridge's. Source:
// pci.ids.
bool is_virtual_function_id(std::string_view id);
bool is_emulated_id(std::string_view id);

Format lspci_format();

}  // namespace rocetune::evidence
