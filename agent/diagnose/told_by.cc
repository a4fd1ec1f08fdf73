#include "agent/diagnose/told_by.h"

#include "agent/diagnose/facts.h"

namespace rocetune::diagnose {
namespace {

// The sources that a port of a document speaks for.
std::vector<const char*> sources_of(const host::Port& port) {
  std::vector<const char*> out;
  const auto add = [&](const char* name, bool is_told) {
    if (is_told) out.push_back(name);
  };
  add(source::kPfc, port.dcb.pfc.has_value());
  add(source::kEts, port.dcb.ets.has_value());
  add(source::kApp, port.dcb.app.has_value());
  add(source::kTrust, port.dcb.trust.has_value());
  add(source::kBuffers, port.dcb.buffers.has_value());
  add(source::kDcbx, port.dcb.dcbx.has_value());
  add(source::kPause, port.pause.has_value());
  add(source::kWatchdog, port.pfc_prevention_ms.has_value());
  add(source::kParameters, port.cc_params.has_value());
  add(source::kLink, port.link.has_value());
  add(source::kNetdev, port.mtu > Bytes(0) || !port.addresses.empty() || port.mac.has_value());
  add(source::kRdma, port.rdma.has_value());
  add(source::kPcie, port.pcie.has_value());
  return out;
}

}  // namespace

ToldBy told_by(const std::vector<const evidence::Document*>& documents) {
  constexpr int kMostNamed = 3;  // more say no more
  ToldBy out;
  std::map<std::string, int> named;
  for (const evidence::Document* document : documents) {
    if (!document->host_part) continue;
    for (const host::Port& port : document->host_part->ports) {
      for (const char* source : sources_of(port)) {
        std::string& files = out[source];
        const std::string place = document->place(document->first_line);
        if (files.find(place) != std::string::npos) continue;
        if (++named[source] <= kMostNamed) {
          files += (files.empty() ? "" : ", ") + place;
        } else if (named[source] == kMostNamed + 1) {
          files += ", ...";
        }
      }
    }
  }
  return out;
}

}  // namespace rocetune::diagnose
