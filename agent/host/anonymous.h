// A host without what tells whose it is: names, addresses, GUIDs and sessions replaced, everything that rules
// judge kept.
#pragma once

#include <string>
#include <string_view>

#include "agent/host/model.h"

namespace rocetune::host {

// Replaces by keyed hashes (SHA-256 of salt, kind and value), so that what was equal stays equal and what was
// different stays different, within everything that was made with the same salt:
//   names of hosts            "host-1f3a"
//   IPv4                      octet by octet behind the first: hosts of one subnet stay in one, private stays
//   private IPv6                      group by group; prefix kinds (fe80::/10, fc00::/7, ::ffff:IPv4) stay
//   what they are MACs                      the vendor's half stays, group and local bits too; EUI-64 GIDs
//   follow their MAC GUIDs                     the vendor's part stays
class Anonymizer {
 public:
  explicit Anonymizer(std::string salt) : salt_(std::move(salt)) {}

  std::string name(std::string_view text) const;
  std::string ipv4(
      std::string_view text) const;  // with or without "/24"; what is no address comes back hashed
  std::string ipv6(std::string_view text) const;     // compressed or not, with or without "/64"
  std::string address(std::string_view text) const;  // whichever of the two it is
  std::string mac(std::string_view text) const;
  std::string guid(std::string_view text) const;  // "b8ce:f603:00ab:cdef"
  std::string gid(std::string_view text) const;   // eight groups

 private:
  std::uint64_t digest(std::string_view kind, std::string_view text) const;
  void hide_bytes(std::string_view kind, std::uint8_t* bytes, std::size_t first, std::size_t end) const;
  std::string salt_;
};

// The whole host. Kernel command line and boot id are left out, and said to be.
void make_anonymous(Host& host, const Anonymizer& anonymizer);

}  // namespace rocetune::host
