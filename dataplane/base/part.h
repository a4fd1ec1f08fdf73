// Loadable parts: libraries that drag in something heavy (DPDK, libibverbs, hwloc) live in shared modules
// named librocetune-<name>.so that a command opens when it needs one. build/rocetune itself then runs on any
// host it is copied to, and a missing librte_*.so is a sentence in a report, not a program that does not
// start.
//
// A part is an abstract class (its contract) in a header without foreign includes, and a module that
// implements it:
//
//   // dataplane/verbs/part.h, included by whoever wants the part
//   class VerbsPart {
//    public:
//     static constexpr PartContract kContract{"verbs", 1};
//     virtual Expected<std::vector<DeviceFacts>> devices() = 0;
//    protected:
//     ~VerbsPart() = default;
//   };
//   // dataplane/verbs/module.cc, the only file of the module that the loader sees
//   ROCETUNE_EXPORT_PART(VerbsPart, VerbsModule)
//   // the user
//   Expected<VerbsPart*> verbs = open_part<VerbsPart>();
//
// Values cross the border, exceptions and ownership of parts do not: a contract's functions return Expected
// or plain values and do not throw. A part stays loaded until the process ends (DPDK cannot be unloaded).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune {

// Which part, and which version of its contract. Raise `version` with every change of the abstract class or
// of a struct that it hands over.
struct PartContract {
  const char* name;
  std::uint32_t version;
};

// What a module says about itself, under the C symbol `rocetune_part`. Its layout is fixed for ever: the
// loader reads it before it knows whether the module belongs to this program.
extern "C" struct RocetunePartDescriptor {
  std::uint32_t magic;             // kPartMagic
  std::uint32_t contract_version;  // PartContract::version
  const char* name;                // PartContract::name
  const char* project_version;     // ROCETUNE_VERSION of the build
  void* (*contract)();             // the implementation, as a pointer to the abstract class
};
inline constexpr std::uint32_t kPartMagic = 0x726f6365;  // "roce"

#define ROCETUNE_EXPORT_PART(Contract, Implementation)                                                      \
  extern "C" __attribute__((visibility("default"))) const ::rocetune::RocetunePartDescriptor rocetune_part; \
  const ::rocetune::RocetunePartDescriptor rocetune_part = {                                                \
      ::rocetune::kPartMagic, Contract::kContract.version, Contract::kContract.name, ROCETUNE_VERSION,      \
      []() -> void* {                                                                                       \
        static Implementation implementation;                                                               \
        return static_cast<Contract*>(&implementation);                                                     \
      }}

// Where modules are looked for, in this order: $ROCETUNE_PART_DIR (ignored when the process runs with raised
// privileges; when set, nowhere else), parts/ beside the executable, the executable's own folder, the
// installed libdir.
std::vector<std::string> part_search_path();

// A module that was opened and whose descriptor fits.
struct LoadedPart {
  std::string file;
  void* contract = nullptr;
};
// Opens librocetune-<contract.name>.so from the first folder of `search_path` that has it.
// Errors: absent = no folder has it; unsupported = it is there and cannot be used, with the reason (a library
// that it needs is missing, another version of the project, another part under this name).
Expected<LoadedPart> load_part(const PartContract& contract, const std::vector<std::string>& search_path);

template <class Contract>
Expected<Contract*> open_part(const std::vector<std::string>& search_path = part_search_path()) {
  return load_part(Contract::kContract, search_path).map([](const LoadedPart& part) {
    return static_cast<Contract*>(part.contract);
  });
}

// A part as a report shows it.
struct PartStatus {
  enum class State { usable, absent, unusable };
  std::string name;
  std::string purpose;  // what rocetune can do with it
  State state = State::absent;
  std::optional<std::string> file;  // the module, when there is one that can be used
  std::string why;                  // why it is not usable; empty if it is
  bool operator==(const PartStatus&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("purpose", self.purpose...);
    visit("state", self.state...);
    visit("file", self.file...);
    visit("why", self.why...);
  }
};
// Every part that this version of rocetune knows, opened to see whether it can be used here.
std::vector<PartStatus> survey_parts(const std::vector<std::string>& search_path = part_search_path());

ROCETUNE_ENUM(PartStatus::State, P{E::usable, "usable"}, P{E::absent, "absent"}, P{E::unusable, "unusable"});

}  // namespace rocetune
