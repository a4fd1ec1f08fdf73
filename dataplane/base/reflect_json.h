// JSON of reflected structs, both ways: to_json(writer, value) and from_json(json, path) -> Expected<value>.
// JsonForm<T> says how a T is written and read; a type whose form reflection cannot know specialises it.
//
// Rules: an empty optional member is left out, elsewhere it is null; an Observed without value is
// {"unavailable": kind, "why": text}; quantities are numbers in their base unit (the field's name says
// which); codes are numbers; enums are their names; a PrioritySet is an array of priorities; maps are
// objects. Reading: a missing field keeps its default, an unknown field is ignored (written by a newer
// version), a field of the wrong kind or out of range is an error with its path.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dataplane/base/json_reader.h"
#include "dataplane/base/json_writer.h"
#include "dataplane/base/observed.h"
#include "dataplane/base/reflect.h"

namespace rocetune {

template <class T>
struct JsonForm;

ROCETUNE_ENUM(Unavailable::Kind, P{E::absent, "absent"}, P{E::denied, "denied"}, P{E::failed, "failed"},
              P{E::not_read, "not_read"});

template <class T>
void to_json(JsonWriter& out, const T& value) {
  JsonForm<T>::write(out, value);
}

// Error: bad_input with the path of what is wrong.
template <class T>
Expected<T> from_json(const Json& json, const JsonPath& path) {
  T out{};
  if (auto read = JsonForm<T>::read(json, path, out); !read) return tl::unexpected(read.error());
  return out;
}

// ---- numbers and text

template <>
struct JsonForm<std::string> {
  static void write(JsonWriter& out, const std::string& value) { out.value(value); }
  static Expected<> read(const Json& json, const JsonPath& path, std::string& out);
};

template <>
struct JsonForm<bool> {
  static void write(JsonWriter& out, bool value) { out.value(value); }
  static Expected<> read(const Json& json, const JsonPath& path, bool& out);
};

template <std::floating_point T>
struct JsonForm<T> {
  static void write(JsonWriter& out, T value) { out.value(static_cast<double>(value)); }
  static Expected<> read(const Json& json, const JsonPath& path, T& out) {
    if (!json.is_number()) return wrong_json(path, json, "a number");
    out = static_cast<T>(json.to_number<double>());
    return {};
  }
};

template <std::signed_integral T>
struct JsonForm<T> {
  static void write(JsonWriter& out, T value) { out.value(std::int64_t{value}); }
  static Expected<> read(const Json& json, const JsonPath& path, T& out) {
    const auto number = signed_integer(json, path, sizeof(T) * 8);
    if (!number) return tl::unexpected(number.error());
    out = static_cast<T>(*number);
    return {};
  }
};

template <std::unsigned_integral T>
struct JsonForm<T> {
  static void write(JsonWriter& out, T value) { out.value(std::uint64_t{value}); }
  static Expected<> read(const Json& json, const JsonPath& path, T& out) {
    const auto number = unsigned_integer(json, path, sizeof(T) * 8);
    if (!number) return tl::unexpected(number.error());
    out = static_cast<T>(*number);
    return {};
  }
};

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
}  // namespace detail

template <detail::QuantityLike T>
struct JsonForm<T> {
  static void write(JsonWriter& out, T value) { out.value(static_cast<std::int64_t>(value.count())); }
  static Expected<> read(const Json& json, const JsonPath& path, T& out) {
    const auto number = signed_integer(json, path, 64);
    if (!number) return tl::unexpected(number.error());
    out = T(*number);
    return {};
  }
};

template <detail::CodeLike T>
struct JsonForm<T> {
  static void write(JsonWriter& out, T value) { out.value(value.value()); }
  static Expected<> read(const Json& json, const JsonPath& path, T& out) {
    const auto number = signed_integer(json, path, 64);
    if (!number) return tl::unexpected(number.error());
    if (!T::is_valid(*number)) return wrong_json(path, json, fmt::format("an integer 0..{}", T::kCount - 1));
    out = T(static_cast<int>(*number));
    return {};
  }
};

template <>
struct JsonForm<TosByte> {
  static void write(JsonWriter& out, TosByte value) { out.value(static_cast<int>(value.wire())); }
  static Expected<> read(const Json& json, const JsonPath& path, TosByte& out);
};

template <>
struct JsonForm<PrioritySet> {
  static void write(JsonWriter& out, PrioritySet value);
  static Expected<> read(const Json& json, const JsonPath& path, PrioritySet& out);
};

template <NamedEnum T>
struct JsonForm<T> {
  static void write(JsonWriter& out, T value) { out.value(enum_name(value)); }
  static Expected<> read(const Json& json, const JsonPath& path, T& out) {
    std::array<std::string_view, EnumNames<T>::names.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = EnumNames<T>::names[i].second;
    const auto index = index_of_name(json, path, names);
    if (!index) return tl::unexpected(index.error());
    out = EnumNames<T>::names[*index].first;
    return {};
  }
};

// ---- what holds others

template <>
struct JsonForm<Unavailable> {
  static void write(JsonWriter& out, const Unavailable& value);
  static Expected<> read(const Json& json, const JsonPath& path, Unavailable& out);
};

template <Reflected T>
struct JsonForm<T> {
  static void write(JsonWriter& out, const T& value) {
    out.begin_object();
    for_each_field(value, [&out](std::string_view name, const auto& member) {
      using Member = std::remove_cvref_t<decltype(member)>;
      if constexpr (requires { JsonForm<Member>::is_left_out(member); }) {
        if (JsonForm<Member>::is_left_out(member)) return;
      }
      out.key(name);
      JsonForm<Member>::write(out, member);
    });
    out.end_object();
  }
  static Expected<> read(const Json& json, const JsonPath& path, T& out) {
    if (!json.is_object()) return wrong_json(path, json, "an object");
    Expected<> status;
    for_each_field(out, [&](std::string_view name, auto& member) {
      if (!status) return;
      const Json* found = json_member(json, name);
      if (found == nullptr) return;
      status = JsonForm<std::remove_cvref_t<decltype(member)>>::read(*found, path.member(name), member);
    });
    return status;
  }
};

template <class T>
struct JsonForm<std::optional<T>> {
  static bool is_left_out(const std::optional<T>& value) { return !value; }
  static void write(JsonWriter& out, const std::optional<T>& value) {
    if (value) {
      JsonForm<T>::write(out, *value);
    } else {
      out.null();
    }
  }
  static Expected<> read(const Json& json, const JsonPath& path, std::optional<T>& out) {
    out.reset();
    if (json.is_null()) return {};
    return JsonForm<T>::read(json, path, out.emplace());
  }
};

template <class T>
struct JsonForm<Observed<T>> {
  static void write(JsonWriter& out, const Observed<T>& value) {
    if (value) {
      JsonForm<T>::write(out, *value);
    } else {
      JsonForm<Unavailable>::write(out, value.error());
    }
  }
  static Expected<> read(const Json& json, const JsonPath& path, Observed<T>& out) {
    if (json_member(json, "unavailable") != nullptr) {
      out = tl::unexpected(Unavailable{});
      return JsonForm<Unavailable>::read(json, path, out.error());
    }
    out = T{};
    return JsonForm<T>::read(json, path, *out);
  }
};

template <class T>
struct JsonForm<std::vector<T>> {
  static void write(JsonWriter& out, const std::vector<T>& value) {
    out.begin_array();
    for (const T& element : value) JsonForm<T>::write(out, element);
    out.end_array();
  }
  static Expected<> read(const Json& json, const JsonPath& path, std::vector<T>& out) {
    if (!json.is_array()) return wrong_json(path, json, "an array");
    const auto& elements = json.get_array();
    out.clear();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      T element{};
      if (auto read = JsonForm<T>::read(elements[i], path.element(i), element); !read) return read;
      out.push_back(std::move(element));
    }
    return {};
  }
};

template <class T, std::size_t N>
struct JsonForm<std::array<T, N>> {
  static void write(JsonWriter& out, const std::array<T, N>& value) {
    out.begin_array();
    for (const T& element : value) JsonForm<T>::write(out, element);
    out.end_array();
  }
  static Expected<> read(const Json& json, const JsonPath& path, std::array<T, N>& out) {
    if (!json.is_array() || json.get_array().size() != N) {
      return wrong_json(path, json, fmt::format("an array of {}", N));
    }
    for (std::size_t i = 0; i < N; ++i) {
      if (auto read = JsonForm<T>::read(json.get_array()[i], path.element(i), out[i]); !read) return read;
    }
    return {};
  }
};

template <class T>
struct JsonForm<std::map<std::string, T>> {
  static void write(JsonWriter& out, const std::map<std::string, T>& value) {
    out.begin_object();
    for (const auto& [key, element] : value) {
      out.key(key);
      JsonForm<T>::write(out, element);
    }
    out.end_object();
  }
  static Expected<> read(const Json& json, const JsonPath& path, std::map<std::string, T>& out) {
    if (!json.is_object()) return wrong_json(path, json, "an object");
    out.clear();
    for (const auto& [key, element] : json.get_object()) {
      const std::string_view name(key.data(), key.size());
      if (auto read = JsonForm<T>::read(element, path.member(name), out[std::string(name)]); !read)
        return read;
    }
    return {};
  }
};

}  // namespace rocetune
