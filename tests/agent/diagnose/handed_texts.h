// Texts as somebody hands them over, and what all rules say of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/diagnose/engine.h"

namespace rocetune::diagnose {

// File name and content; a content that begins with '@' is a fixture: "@ibstat/one-down.txt" of
// tests/fixtures/texts.
using HandedTexts = std::vector<std::pair<std::string, std::string>>;

Report report_on(const HandedTexts& texts);

// The worst severity of a rule's findings; nothing if it found nothing.
std::optional<Severity> worst_of(const Report& report, std::string_view rule);
bool is_not_checked(const Report& report, std::string_view rule);
bool has_passed(const Report& report, std::string_view rule);
// Cause and evidence of the rule's findings, for failures and for what has to be named.
std::string words_of(const Report& report, std::string_view rule);

}  // namespace rocetune::diagnose
