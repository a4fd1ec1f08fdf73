#include "agent/counters/schema.h"

#include <algorithm>
#include <set>

#include "dataplane/base/toml_reader.h"

namespace rocetune::counters {
namespace {

constexpr int kTableVersion = 1;
constexpr std::string_view kSchemaFileName = "schema.toml";
constexpr std::string_view kPriorityPlaceholder = "{p}";

bool is_schema_file(const ConfigFile& file) { return file.path.ends_with(kSchemaFileName); }

void read_version(TableReader& t) {
  int version = 0;
  t.required("schema_version", version, one_of<int>({kTableVersion}));
}

Definition read_definition(TableReader& t) {
  Definition out;
  t.required("name", out.name, not_empty());
  std::string per;
  if (t.required("per", per, one_of<std::string>({"priority", "port"}))) out.per_priority = per == "priority";
  t.required("unit", out.unit);
  t.required("direction", out.direction);
  t.required("kind", out.kind);
  t.required("meaning", out.meaning, not_empty());
  if (out.unit == Unit::microseconds && !out.name.empty() && !out.name.ends_with("_us")) {
    t.reject("name", "a name that ends in _us for a counter of microseconds");
  }
  return out;
}

std::vector<std::string> names_of(const std::vector<Definition>& definitions) {
  std::vector<std::string> names;
  names.reserve(definitions.size());
  for (const Definition& definition : definitions) names.push_back(definition.name);
  return names;
}

void check_pattern(TableReader& t, std::string_view key, const std::vector<std::string>& patterns,
                   const Definition& definition) {
  for (const std::string& pattern : patterns) {
    if (pattern.empty()) t.reject(key, "names that are not empty");
    const bool has_priority = pattern.find(kPriorityPlaceholder) != std::string::npos;
    if (has_priority != definition.per_priority) {
      t.issue(key, "\"" + pattern + "\"",
              definition.per_priority ? "a name with {p}: the counter is kept per priority"
                                      : "a name without {p}: the counter is kept per port");
    }
  }
}

// The half of a row that says where the counter stands.
void read_place(TableReader& t, const Definition& definition, VendorCounter& out) {
  bool any = false;
  for (const Source source : kSources) {
    const std::string_view key = enum_name(source);
    auto& patterns = out.names[index_of(source)];
    if (!t.optional(key, patterns, not_empty())) continue;
    any = true;
    check_pattern(t, key, patterns, definition);
  }
  if (!any) t.issue("", "a row without ethtool, rdma, dcb or absent", "at least one of them");
  t.required("width_bits", out.width_bits, one_of<int>({32, 64}));
  t.optional("divide_by", out.divide_by, between(1, 1000));
  t.required("counts", out.counts);
  t.required("exists_when", out.exists_when, not_empty());
  t.optional("note", out.note, not_empty());
  if (out.divide_by > 1 && definition.kind == Kind::level) t.reject("divide_by", "left out for a level");
}

VendorCounter read_vendor_counter(TableReader& t, const std::vector<Definition>& definitions) {
  VendorCounter out;
  t.required("name", out.name, not_empty());
  t.required("origin", out.origin, not_empty());
  const auto definition = std::ranges::find(definitions, out.name, &Definition::name);
  if (!out.name.empty() && definition == definitions.end()) {
    t.reject("name", "a counter of schema.toml", nearest_name(out.name, names_of(definitions)));
  }
  if (t.has("absent")) {
    t.required("absent", out.absent, not_empty());
  } else {
    read_place(t, definition == definitions.end() ? Definition{} : *definition, out);
  }
  return out;
}

}  // namespace

Expected<Schema> Schema::parse(const std::vector<ConfigFile>& files) {
  Schema out;
  std::vector<InputIssue> issues;
  const auto add = [&](std::vector<InputIssue> more) {
    issues.insert(issues.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };

  const auto schema_file = std::ranges::find_if(files, is_schema_file);
  if (schema_file == files.end()) {
    return fail(ErrorKind::bad_input, "counter tables: found no schema.toml among {} files", files.size());
  }
  add(toml_issues(schema_file->text, schema_file->name, [&](TableReader& t) {
    read_version(t);
    t.required_array_of_tables("counter", [&](TableReader& row) {
      Definition definition = read_definition(row);
      if (out.by_name_.contains(definition.name)) {
        row.reject("name", "a name that no other counter has");
        return;
      }
      out.by_name_.emplace(definition.name, out.definitions_.size());
      out.definitions_.push_back(std::move(definition));
    });
  }));

  for (const ConfigFile& file : files) {
    if (is_schema_file(file)) continue;
    VendorTable table;
    add(toml_issues(file.text, file.name, [&](TableReader& t) {
      read_version(t);
      if (t.required("nic", table.nic, not_empty()) && out.vendors_.contains(table.nic)) {
        t.reject("nic", "a NIC that no other file describes");
      }
      t.optional("rdma_prefixes", table.rdma_prefixes, each(not_empty()));
      t.required_array_of_tables("counter", [&](TableReader& row) {
        VendorCounter counter = read_vendor_counter(row, out.definitions_);
        if (table.rows.contains(counter.name)) row.reject("name", "a counter with no other row in this file");
        table.rows.emplace(counter.name, std::move(counter));
      });
    }));
    out.vendors_.emplace(table.nic, std::move(table));
  }
  if (!issues.empty()) return tl::unexpected(bad_input(issues));

  for (std::size_t i = 0; i < out.definitions_.size(); ++i) {
    const Definition& definition = out.definitions_[i];
    if (!definition.per_priority) {
      out.slots_.push_back({CounterId{definition.name, std::nullopt}, i});
      continue;
    }
    for (int p = 0; p < Priority::kCount; ++p) {
      out.slots_.push_back({CounterId{definition.name, Priority(p)}, i});
    }
  }
  return out;
}

Expected<Schema> Schema::load(const ConfigFiles& configs) {
  const auto files = configs.list("counters", ".toml");
  if (!files) return tl::unexpected(files.error().within("counter tables"));
  return parse(*files);
}

const Definition* Schema::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &definitions_[found->second];
}

const VendorTable* Schema::vendor(std::string_view nic) const {
  const auto found = vendors_.find(nic);
  return found == vendors_.end() ? nullptr : &found->second;
}

}  // namespace rocetune::counters
