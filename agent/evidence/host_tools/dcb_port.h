// A port while objects of `dcb` are read into it.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "agent/evidence/document.h"

namespace rocetune::evidence {

enum class DcbObject { pfc, ets, app, buffer, maxrate, dcbx, apptrust, rewr };
constexpr std::size_t kDcbObjects = 8;
// "pfc"; nothing for another word.
std::optional<DcbObject> dcb_object_named(std::string_view word);

// DSCP as a number or as the tool names it without -N: "AF31", "CS6", "EF".
std::optional<Dscp> dscp_of(std::string_view text);

class DcbPort {
 public:
  explicit DcbPort(std::string device = {}) { port_.name = std::move(device); }

  host::Dcb& dcb() { return port_.dcb; }
  host::Pfc& pfc() { return known(port_.dcb.pfc); }
  host::Ets& ets() { return known(port_.dcb.ets); }
  host::PortBuffers& buffers() { return known(port_.dcb.buffers); }
  std::vector<host::AppEntry>& app() { return known(port_.dcb.app); }
  const std::string& device() const { return port_.name; }

  void note(DcbObject object) { seen_.set(static_cast<std::size_t>(object)); }
  bool has(DcbObject object) const { return seen_.test(static_cast<std::size_t>(object)); }
  void note_pfc_counts() { has_pfc_counts_ = true; }
  bool is_empty() const { return seen_.none(); }

  Document finish();

 private:
  template <class T>
  T& known(Observed<T>& fact) {
    if (!fact) fact = T();
    return *fact;
  }

  host::Port port_;
  std::bitset<kDcbObjects> seen_;
  bool has_pfc_counts_ = false;
};

}  // namespace rocetune::evidence
