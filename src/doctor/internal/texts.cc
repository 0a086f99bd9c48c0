#include "doctor/internal/texts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace fairlead::doctor {
namespace {

constexpr size_t kNamed = 3;

std::string resource_word(const object::Key& key) {
  std::string word = key.kind;
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

std::string command(std::string_view verb, const object::Key& key) {
  std::string ns = key.ns.empty() ? "" : fmt::format("-n {} ", key.ns);
  return fmt::format("kubectl {}{} {} {}", ns, verb, resource_word(key), key.name);
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  size_t shown = names.size() == kNamed + 1 ? kNamed + 1 : std::min(names.size(), kNamed);
  for (size_t i = 0; i < shown; ++i) {
    bool is_last = i + 1 == names.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + names[i];
  }
  return names.size() > shown ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

std::string counted(size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string get_command(const object::Key& key) { return command("get", key) + " -o yaml"; }
std::string describe_command(const object::Key& key) { return command("describe", key); }

std::string second_of(WallTime time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", std::chrono::floor<std::chrono::seconds>(time));
}

std::string day_of(WallTime time) { return fmt::format("{:%Y-%m-%d}", std::chrono::floor<std::chrono::seconds>(time)); }

}  // namespace fairlead::doctor
