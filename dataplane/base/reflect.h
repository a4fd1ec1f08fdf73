// One list of a struct's fields serves its JSON form (both ways), its hash and its arithmetic. The list takes
// any number of objects of the struct at once, and calls the visitor with the same field of each:
//
//   struct PauseState {
//     bool receive = false;
//     static constexpr void fields(auto&& visit, auto&... self) { visit("receive", self.receive...); }
//   };
//
// Plain calls, no table of member pointers: tuples of those cost more to compile than all else here.
//
// An enum lists its names:
//   template <> struct EnumNames<Trust> { static constexpr std::array names{std::pair{Trust::dscp, "dscp"},
//   ...}; };
#pragma once

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rocetune {

template <class T>
concept Reflected = requires { T::fields([](std::string_view) {}); };

template <class Enum>
struct EnumNames;  // specialise with `static constexpr std::array<std::pair<Enum, std::string_view>, N>
                   // names`

// ROCETUNE_ENUM(Trust, P{E::pcp, "pcp"}, P{E::dscp, "dscp"}) is that specialisation; use it in namespace
// rocetune.
#define ROCETUNE_ENUM(Type, ...)                    \
  template <>                                       \
  struct EnumNames<Type> {                          \
    using E = Type;                                 \
    using P = std::pair<E, std::string_view>;       \
    static constexpr std::array names{__VA_ARGS__}; \
  }

template <class E>
concept NamedEnum = requires { EnumNames<E>::names; };

template <NamedEnum E>
constexpr std::string_view enum_name(E value) {
  for (const auto& [known, name] : EnumNames<E>::names) {
    if (known == value) return name;
  }
  return "?";
}

// Calls visit(name, member) for every field, in order.
template <Reflected T, class Visitor>
constexpr void for_each_field(T& object, Visitor&& visit) {
  std::remove_const_t<T>::fields(visit, object);
}

// Calls visit(first's member, second's member) for every field, in order.
template <Reflected T, class Visitor>
constexpr void for_each_field(T& first, const T& second, Visitor&& visit) {
  T::fields([&](std::string_view, auto& one, const auto& other) { visit(one, other); }, first, second);
}

}  // namespace rocetune
