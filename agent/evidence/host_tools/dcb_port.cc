#include "agent/evidence/host_tools/dcb_port.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "agent/evidence/host_tools/class_facts.h"
#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::array<std::string_view, kDcbObjects> kObjectNames{"pfc",     "ets",  "app",      "buffer",
                                                                 "maxrate", "dcbx", "apptrust", "rewr"};

struct NamedDscp {
  std::string_view name;
  int value;
};
// /etc/iproute2/rt_dsfield, as dcb_app.c prints it.
constexpr NamedDscp kDscpNames[] = {
    {"CS0", 0},   {"CS1", 8},   {"CS2", 16},  {"CS3", 24},         {"CS4", 32},  {"CS5", 40},
    {"CS6", 48},  {"CS7", 56},  {"AF11", 10}, {"AF12", 12},        {"AF13", 14}, {"AF21", 18},
    {"AF22", 20}, {"AF23", 22}, {"AF31", 26}, {"AF32", 28},        {"AF33", 30}, {"AF41", 34},
    {"AF42", 36}, {"AF43", 38}, {"EF", 46},   {"VOICE-ADMIT", 44}, {"LE", 1},    {"default", 0}};

}  // namespace

std::optional<DcbObject> dcb_object_named(std::string_view word) {
  for (std::size_t i = 0; i < kDcbObjects; ++i) {
    if (kObjectNames[i] == word) return static_cast<DcbObject>(i);
  }
  return std::nullopt;
}

std::optional<Dscp> dscp_of(std::string_view text) {
  for (const NamedDscp& named : kDscpNames) {
    if (named.name == text) return Dscp(named.value);
  }
  const auto number = small_number_of(text);
  if (!number || !Dscp::is_valid(*number)) return std::nullopt;
  return Dscp(*number);
}

Document DcbPort::finish() {
  Document document;
  document.format = "dcb";
  if (seen_.count() == 1) {
    for (std::size_t i = 0; i < kDcbObjects; ++i) {
      if (seen_.test(i) && static_cast<DcbObject>(i) < DcbObject::apptrust) {
        document.format = fmt::format("dcb-{}", kObjectNames[i]);
      }
    }
  }
  host::Dcb& dcb = port_.dcb;
  if (dcb.app) {
    std::sort(dcb.app->begin(), dcb.app->end());
    dcb.app->erase(std::unique(dcb.app->begin(), dcb.app->end()), dcb.app->end());
  }
  // "vendor" is what mlx5 calls the classes that nobody scheduled; no other driver of Linux says it.
  if (dcb.ets && dcb.ets->tsa[0] == host::Tsa::vendor) port_.driver = "mlx5_core";
  if (dcb.app && !dcb.trust) {
    // mlx5 trusts DSCP as soon as one DSCP has an entry (en_dcbnl.c); of others only entries say it.
    const bool by_dscp = std::any_of(dcb.app->begin(), dcb.app->end(), [](const host::AppEntry& e) {
      return e.selector == host::AppSelector::dscp;
    });
    if (by_dscp) {
      dcb.trust = host::Trust::dscp;
    } else if (!port_.driver.empty()) {
      dcb.trust = host::Trust::pcp;
    }
  }
  add_class_facts(dcb, document);
  if (dcb.pfc && has_pfc_counts_) {
    for (std::size_t p = 0; p < 8; ++p) {
      document.counters.push_back(
          {port_.name, fmt::format("pfc_requests_prio{}", p), dcb.pfc->requests[p], 0});
      document.counters.push_back(
          {port_.name, fmt::format("pfc_indications_prio{}", p), dcb.pfc->indications[p], 0});
    }
  }
  document.host_part.emplace().ports.push_back(std::move(port_));
  return document;
}

}  // namespace rocetune::evidence
