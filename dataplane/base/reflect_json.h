// JSON of reflected structs, both ways: to_json(writer, value) and from_json(json, path) -> Expected<value>.
//
// Rules: an empty optional member is left out, elsewhere it is null; an Observed without value is
// {"unavailable": kind, "why": text}; quantities are numbers in their base unit (the field's name says
// which); codes are numbers; enums are their names; a PrioritySet is an array of priorities; maps are
// objects. Reading: a missing field keeps its default, an unknown field is ignored (written by a newer
// version), a field of the wrong kind or out of range is an error with its path.
#pragma once

#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dataplane/base/json_reader.h"
#include "dataplane/base/json_writer.h"
#include "dataplane/base/observed.h"
#include "dataplane/base/reflect.h"

namespace rocetune {

ROCETUNE_ENUM(Unavailable::Kind, P{E::absent, "absent"}, P{E::denied, "denied"}, P{E::failed, "failed"},
              P{E::not_read, "not_read"});

namespace detail {
template <class T>
concept QuantityLike = requires(T v) {
  v.count();
  requires std::is_constructible_v<T, std::int64_t>;
};
template <class T>
concept CodeLike = requires(T v) {
  v.value();
  T::is_valid(std::int64_t{});
};

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_observed : std::false_type {};
template <class T>
struct is_observed<Observed<T>> : std::true_type {};
template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
template <class T>
struct is_std_array : std::false_type {};
template <class T, std::size_t N>
struct is_std_array<std::array<T, N>> : std::true_type {};
template <class T>
struct is_string_map : std::false_type {};
template <class T>
struct is_string_map<std::map<std::string, T>> : std::true_type {};
}  // namespace detail

template <class T>
void to_json(JsonWriter& out, const T& value) {
  using namespace detail;
  if constexpr (Reflected<T>) {
    out.begin_object();
    for_each_field(value, [&](std::string_view name, const auto& member) {
      using M = std::remove_cvref_t<decltype(member)>;
      if constexpr (is_optional<M>::value) {
        if (!member) return;
        out.key(name);
        to_json(out, *member);
      } else {
        out.key(name);
        to_json(out, member);
      }
    });
    out.end_object();
  } else if constexpr (is_optional<T>::value) {
    if (value)
      to_json(out, *value);
    else
      out.null();
  } else if constexpr (is_observed<T>::value) {
    if (value) {
      to_json(out, *value);
    } else {
      out.begin_object();
      out.member("unavailable", enum_name(value.error().kind)).member("why", value.error().why);
      out.end_object();
    }
  } else if constexpr (is_vector<T>::value || is_std_array<T>::value) {
    out.begin_array();
    for (const auto& element : value) to_json(out, element);
    out.end_array();
  } else if constexpr (is_string_map<T>::value) {
    out.begin_object();
    for (const auto& [key, element] : value) {
      out.key(key);
      to_json(out, element);
    }
    out.end_object();
  } else if constexpr (std::is_same_v<T, PrioritySet>) {
    out.begin_array();
    for (const Priority p : value.members()) out.value(p.value());
    out.end_array();
  } else if constexpr (NamedEnum<T>) {
    out.value(enum_name(value));
  } else if constexpr (std::is_same_v<T, TosByte>) {
    out.value(static_cast<int>(value.wire()));
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
    out.value(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    out.value(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_unsigned_v<T>)
      out.value(std::uint64_t{value});
    else
      out.value(std::int64_t{value});
  } else if constexpr (QuantityLike<T>) {
    out.value(static_cast<std::int64_t>(value.count()));
  } else {
    static_assert(CodeLike<T>, "no JSON form for this type");
    out.value(value.value());
  }
}

template <class T>
Expected<T> from_json(const Json& json, const JsonPath& path);

namespace detail {
template <class T>
Expected<T> integer_from_json(const Json& json, const JsonPath& path) {
  if (json.is_int64() && std::in_range<T>(json.get_int64())) return static_cast<T>(json.get_int64());
  if (json.is_uint64() && std::in_range<T>(json.get_uint64())) return static_cast<T>(json.get_uint64());
  return wrong_json(path, json, fmt::format("an integer of {} bits", sizeof(T) * 8));
}
}  // namespace detail

template <class T>
Expected<T> from_json(const Json& json, const JsonPath& path) {
  using namespace detail;
  if constexpr (Reflected<T>) {
    if (!json.is_object()) return wrong_json(path, json, "an object");
    T out{};
    Expected<> status;
    for_each_field(out, [&](std::string_view name, auto& member) {
      if (!status) return;
      const Json* found = json.get_object().if_contains({name.data(), name.size()});
      if (found == nullptr) return;
      auto value = from_json<std::remove_cvref_t<decltype(member)>>(*found, path.member(name));
      if (value)
        member = std::move(*value);
      else
        status = tl::unexpected(value.error());
    });
    if (!status) return tl::unexpected(status.error());
    return out;
  } else if constexpr (is_optional<T>::value) {
    if (json.is_null()) return T();
    auto value = from_json<typename T::value_type>(json, path);
    if (!value) return tl::unexpected(value.error());
    return T(std::move(*value));
  } else if constexpr (is_observed<T>::value) {
    if (json.is_object()) {
      if (const Json* kind = json.get_object().if_contains("unavailable")) {
        auto parsed_kind = from_json<Unavailable::Kind>(*kind, path.member("unavailable"));
        if (!parsed_kind) return tl::unexpected(parsed_kind.error());
        std::string why;
        if (const Json* text = json.get_object().if_contains("why"); text != nullptr && text->is_string()) {
          why = text->get_string().c_str();
        }
        return T(tl::unexpected(Unavailable{*parsed_kind, std::move(why)}));
      }
    }
    auto value = from_json<typename T::value_type>(json, path);
    if (!value) return tl::unexpected(value.error());
    return T(std::move(*value));
  } else if constexpr (is_vector<T>::value) {
    if (!json.is_array()) return wrong_json(path, json, "an array");
    T out;
    for (std::size_t i = 0; i < json.get_array().size(); ++i) {
      auto element = from_json<typename T::value_type>(json.get_array()[i], path.element(i));
      if (!element) return tl::unexpected(element.error());
      out.push_back(std::move(*element));
    }
    return out;
  } else if constexpr (is_std_array<T>::value) {
    if (!json.is_array() || json.get_array().size() != std::tuple_size_v<T>) {
      return wrong_json(path, json, fmt::format("an array of {}", std::tuple_size_v<T>));
    }
    T out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      auto element = from_json<typename T::value_type>(json.get_array()[i], path.element(i));
      if (!element) return tl::unexpected(element.error());
      out[i] = std::move(*element);
    }
    return out;
  } else if constexpr (is_string_map<T>::value) {
    if (!json.is_object()) return wrong_json(path, json, "an object");
    T out;
    for (const auto& [key, element] : json.get_object()) {
      auto value = from_json<typename T::mapped_type>(element, path.member({key.data(), key.size()}));
      if (!value) return tl::unexpected(value.error());
      out.emplace(std::string(key), std::move(*value));
    }
    return out;
  } else if constexpr (std::is_same_v<T, PrioritySet>) {
    auto members = from_json<std::vector<Priority>>(json, path);
    if (!members) return tl::unexpected(members.error());
    PrioritySet set;
    for (const Priority p : *members) set = set.with(p);
    return set;
  } else if constexpr (NamedEnum<T>) {
    if (json.is_string()) {
      for (const auto& [value, name] : EnumNames<T>::names) {
        if (std::string_view(json.get_string()) == name) return value;
      }
    }
    std::string allowed;
    for (const auto& [value, name] : EnumNames<T>::names)
      allowed += (allowed.empty() ? "" : ", ") + std::string(name);
    return wrong_json(path, json, allowed);
  } else if constexpr (std::is_same_v<T, TosByte>) {
    return integer_from_json<std::uint8_t>(json, path).map([](std::uint8_t b) {
      return TosByte::from_wire(b);
    });
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return wrong_json(path, json, "a string");
    return std::string(json.get_string());
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_bool()) return wrong_json(path, json, "true or false");
    return json.get_bool();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!json.is_number()) return wrong_json(path, json, "a number");
    return static_cast<T>(json.to_number<double>());
  } else if constexpr (std::is_integral_v<T>) {
    return integer_from_json<T>(json, path);
  } else if constexpr (QuantityLike<T>) {
    return integer_from_json<std::int64_t>(json, path).map([](std::int64_t n) { return T(n); });
  } else {
    static_assert(CodeLike<T>, "no JSON form for this type");
    auto n = integer_from_json<std::int64_t>(json, path);
    if (!n) return tl::unexpected(n.error());
    if (!T::is_valid(*n)) return wrong_json(path, json, fmt::format("an integer 0..{}", T::kCount - 1));
    return T(static_cast<int>(*n));
  }
}

}  // namespace rocetune
