#include "pulumi/provider/facade.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::pulumi {
namespace {

using terraform::Attribute;

// What the core calls things, and Pulumi.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"fairlead_object", "KubeObject"}, {"fairlead_wait", "Wait"},
    {"fairlead_bundle", "Bundle"},     {"fairlead-terraform", "fairlead-pulumi"},
    {"provider block", "provider"},    {"depends_on", "dependsOn"},
    {"Terraform", "Pulumi"},
};

bool is_part_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Puts the property in place of the attribute, where the attribute is a word of its own. A word without an underscore
// can be one of a sentence: it counts only before " = ".
void replace_word(std::string& text, std::string_view attribute, std::string_view property) {
  constexpr std::string_view kAssigned = " = ";
  bool is_unmistakable = attribute.contains('_');
  for (size_t at = text.find(attribute); at != std::string::npos; at = text.find(attribute, at)) {
    size_t after = at + attribute.size();
    bool is_word =
        (at == 0 || !is_part_of_word(text[at - 1])) && (after == text.size() || !is_part_of_word(text[after]));
    bool is_assigned = text.compare(after, kAssigned.size(), kAssigned) == 0;
    if (!is_word || (!is_unmistakable && !is_assigned)) {
      at = after;
      continue;
    }
    if (is_assigned) text.replace(after, kAssigned.size(), ": ");
    text.replace(at, attribute.size(), property);
    at += property.size();
  }
}

void replace_names(std::string& text, const std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes) {
    replace_word(text, attribute.name, camel_case(attribute.name));
    replace_names(text, attribute.nested);
  }
}

}  // namespace

std::string Facade::token() const { return "fairlead:index:" + name; }

std::string Facade::property_of(std::string_view attribute) const {
  auto found = renamed.find(attribute);
  return found == renamed.end() ? camel_case(attribute) : std::string(found->second);
}

bool Facade::shows(std::string_view attribute) const {
  return std::ranges::find(hidden, attribute) == hidden.end() && attribute != "id";
}

const Attribute* Facade::attribute_of(std::string_view property) const {
  for (const Attribute& attribute : schema->attributes)
    if (shows(attribute.name) && property_of(attribute.name) == property) return &attribute;
  return nullptr;
}

std::string camel_case(std::string_view name) {
  std::string out;
  bool is_start = false;
  for (char c : name) {
    if (c == '_') {
      is_start = true;
      continue;
    }
    out += is_start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    is_start = false;
  }
  return out;
}

std::string in_words_of_pulumi(std::string_view text, const Facade& facade) {
  std::string out(text);
  for (const auto& [word, ours] : kWords)
    for (size_t at = out.find(word); at != std::string::npos; at = out.find(word, at + ours.size()))
      out.replace(at, word.size(), ours);
  for (const auto& [attribute, property] : facade.renamed) replace_word(out, attribute, property);
  replace_names(out, facade.schema->attributes);
  return out;
}

}  // namespace fairlead::pulumi
