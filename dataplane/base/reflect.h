// One list of a struct's fields serves its JSON form (both ways), its hash and its comparison.
//
//   struct PauseState {
//     bool receive = false;
//     static constexpr auto fields() { return std::tuple{field("receive", &PauseState::receive)}; }
//   };
//
// An enum lists its names:
//   template <> struct EnumNames<Trust> { static constexpr std::array names{std::pair{Trust::dscp, "dscp"},
//   ...}; };
#pragma once

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rocetune {

template <class Struct, class Member>
struct Field {
  std::string_view name;
  Member Struct::*member;
};
template <class Struct, class Member>
constexpr Field<Struct, Member> field(std::string_view name, Member Struct::*member) {
  return {name, member};
}

template <class T>
concept Reflected = requires { T::fields(); };

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
  std::apply([&](const auto&... f) { (visit(f.name, object.*(f.member)), ...); },
             std::remove_const_t<T>::fields());
}

}  // namespace rocetune
