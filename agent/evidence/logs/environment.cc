#include "agent/evidence/logs/environment.h"

#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

class EnvironmentReader final : public DocumentReader {
 public:
  explicit EnvironmentReader(const Context& context) : host_(context.host) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    if (text.front() == '#') return is_comment_ ? Verdict::mine : Verdict::not_mine;
    // Kubernetes: "- name: NCCL_IB_HCA" and, on the next line, "value: mlx5_0".
    if (const auto value = behind(text, "value: "); value && !name_.empty()) {
      keep(assignment_of(name_ + "=" + std::string(*value)), line);
      name_.clear();
      return Verdict::mine;
    }
    name_.clear();
    if (const auto name = behind(text, "name: "); name && is_rdma_variable(*name)) {
      name_ = *name;
      return Verdict::mine;
    }
    const auto setting = setting_of(text);
    if (!setting) return Verdict::not_mine;
    keep(setting, line);
    is_comment_ = true;
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (environment_.settings.empty()) return std::nullopt;
    Document document;
    add_traffic_class_facts(document, environment_.settings);
    document.content = std::move(environment_);
    return document;
  }

 private:
  void keep(std::optional<Setting> setting, const Line& line) {
    if (!setting || environment_.settings.size() >= Environment::kMost) return;
    setting->line = line.number;
    setting->host = host_;
    environment_.settings.push_back(*std::move(setting));
  }

  std::string host_;
  std::string name_;
  bool is_comment_ = false;  // a line that begins with '#' is one: settings came before it
  Environment environment_;
};

bool begins_environment(const Line& line, const Context&) {
  if (const auto name = behind(line.text, "name: ")) return is_rdma_variable(*name);
  return setting_of(line.text).has_value();
}

}  // namespace

Format environment_format() {
  return {.name = "env", .anchors = {}, .begins = begins_environment, .open = open_reader<EnvironmentReader>};
}

}  // namespace rocetune::evidence
