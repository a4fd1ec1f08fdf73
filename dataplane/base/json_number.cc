#include "dataplane/base/json_number.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace rocetune {
namespace {

constexpr std::string_view kAll = "*";

struct PathStep {
  std::string_view name;
  std::string_view rest;
};
PathStep first_step(std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

std::optional<std::size_t> index_from(std::string_view text) {
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

const Json* element_of(const boost::json::array& array, std::string_view name) {
  if (const auto index = index_from(name)) return *index < array.size() ? &array[*index] : nullptr;
  const auto has_name = [&](const Json& element) {
    const Json* member = json_member(element, "name");
    return member != nullptr && member->is_string() && std::string_view(member->get_string()) == name;
  };
  const auto found = std::ranges::find_if(array, has_name);
  return found == array.end() ? nullptr : &*found;
}

bool is_numeric(const Json& json) { return json.is_number() || json.is_bool(); }

// Paths of all numbers below, with kAll for elements of arrays.
void add_paths(const Json& json, const std::string& path, std::vector<std::string>& out) {
  const std::string begin = path.empty() ? path : path + ".";
  if (is_numeric(json)) out.push_back(path);
  if (json.is_object()) {
    for (const auto& [key, value] : json.get_object()) add_paths(value, begin + std::string(key), out);
  }
  if (json.is_array() && !json.get_array().empty())
    add_paths(json.get_array().front(), begin + std::string(kAll), out);
}

// The path most like it: one that ends with it, else by spelling.
std::string nearest_path(const Json& specimen, std::string_view path) {
  std::vector<std::string> known;
  add_paths(specimen, {}, known);
  const auto ends_so = [&](const std::string& p) { return p.ends_with("." + std::string(path)); };
  if (const auto found = std::ranges::find_if(known, ends_so); found != known.end()) return *found;
  return nearest_name(path, known);
}

std::string members_of(const Json& json) {
  std::string out;
  for (const auto& [key, value] : json.get_object()) out += (out.empty() ? "" : ", ") + std::string(key);
  return out;
}

}  // namespace

std::optional<double> number_at(const Json& document, std::string_view path) {
  if (path.empty()) {
    if (document.is_bool()) return document.get_bool() ? 1 : 0;
    if (!document.is_number()) return std::nullopt;
    return document.to_number<double>();
  }
  const auto [name, rest] = first_step(path);
  if (document.is_array() && name == kAll) {
    std::optional<double> most;
    for (const Json& element : document.get_array()) {
      if (const auto value = number_at(element, rest)) most = std::max(most.value_or(*value), *value);
    }
    return most;
  }
  const Json* next =
      document.is_array() ? element_of(document.get_array(), name) : json_member(document, name);
  return next == nullptr ? std::nullopt : number_at(*next, rest);
}

std::optional<PathProblem> path_problem(const Json& specimen, std::string_view path) {
  const Json* at = &specimen;
  std::string walked;
  for (std::string_view left = path; !left.empty();) {
    const auto [name, rest] = first_step(left);
    const Json* next = nullptr;
    std::string allowed = walked.empty() ? "a path" : walked + " is no object";
    if (at->is_object()) {
      next = json_member(*at, name);
      allowed = (walked.empty() ? "" : walked + " with ") + members_of(*at);
    } else if (at->is_array() && !at->get_array().empty() && !name.empty()) {
      const Json& element = at->get_array().front();
      allowed = walked + " with the number of an element, or * for the largest of all";
      if (index_from(name) || name == kAll || json_member(element, "name") != nullptr) next = &element;
    }
    if (next == nullptr) return PathProblem{std::move(allowed), nearest_path(specimen, path)};
    walked += (walked.empty() ? "" : ".") + std::string(name);
    left = rest;
    at = next;
  }
  if (!path.empty() && is_numeric(*at)) return std::nullopt;
  const std::string_view kind = json_kind(*at);
  return PathProblem{at->is_object() ? fmt::format("a number, such as {}.{}", path,
                                                   std::string(at->get_object().begin()->key()))
                                     : fmt::format("a number; {} is {}", path, kind),
                     {}};
}

}  // namespace rocetune
