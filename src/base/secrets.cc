#include "base/secrets.h"

#include <algorithm>
#include <cstring>

#include "base/base64.h"
#include "base/go_quoted.h"
#include "base/json.h"

namespace fairlead {
namespace {

constexpr size_t kShortest = 4;
// A line of a longer value, such as a key: shorter ones are no secrets by themselves.
constexpr size_t kShortestLine = 8;
constexpr std::string_view kWhiteSpace = " \t\r\n";

uint32_t beginning(std::string_view text) {
  uint32_t bytes = 0;
  std::memcpy(&bytes, text.data(), kShortest);
  return bytes;
}

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) - begin + 1);
}

std::string_view unquoted(std::string_view text) {
  return text.size() < 2 ? std::string_view() : text.substr(1, text.size() - 2);
}

}  // namespace

void Secrets::add(std::string form) {
  if (form.size() < kShortest) return;
  std::vector<std::string>& forms = forms_[beginning(form)];
  if (std::ranges::find(forms, form) != forms.end()) return;
  forms.push_back(std::move(form));
  std::ranges::sort(forms, std::ranges::greater(), &std::string::size);
}

void Secrets::hide(std::string_view value) {
  std::string_view core = trimmed(value);
  if (core.size() < kShortest) return;
  for (std::string_view text : {value, core}) {
    add(std::string(text));
    add(to_base64(text));
    add(std::string(unquoted(Json(text).dump())));
    add(std::string(unquoted(go_quoted(text))));
  }
  if (core.find('\n') == std::string_view::npos) return;
  while (!core.empty()) {
    std::string_view line = trimmed(core.substr(0, core.find('\n')));
    if (line.size() >= kShortestLine) add(std::string(line));
    core.remove_prefix(std::min(core.find('\n'), core.size() - 1) + 1);
  }
}

void Secrets::hide(const Secrets& others) {
  for (const auto& [beginning, forms] : others.forms_)
    for (const std::string& form : forms) add(form);
}

void Secrets::show(std::string_view value) {
  if (value.size() < kShortest) return;
  auto found = forms_.find(beginning(value));
  if (found == forms_.end()) return;
  std::erase(found->second, value);
  if (found->second.empty()) forms_.erase(found);
}

std::string Secrets::without(std::string_view text) const {
  if (empty()) return std::string(text);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    std::string_view rest = text.substr(at);
    size_t hidden = 0;
    if (rest.size() >= kShortest)
      if (auto found = forms_.find(beginning(rest)); found != forms_.end())
        for (const std::string& form : found->second)
          if (rest.starts_with(form)) {
            hidden = form.size();
            break;
          }
    if (hidden == 0) out += text[at];
    else if (!out.ends_with("***")) out += "***";
    at += std::max<size_t>(hidden, 1);
  }
  return out;
}

Error Secrets::without(const Error& error) const {
  if (empty()) return error;
  Error out(error.kind(), without(error.what()));
  if (error.cause()) out = std::move(out).because(without(*error.cause()));
  if (!error.where().empty()) out = std::move(out).at(error.where());
  if (!error.next().empty()) out = std::move(out).next(without(error.next()));
  return out;
}

}  // namespace fairlead
