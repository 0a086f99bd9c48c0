#include <array>

#include "base/base64.h"
#include "timeline/page_files.h"
#include "timeline/timeline.h"

namespace fairlead::timeline {
namespace {

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    if (c == '<') safe += "&lt;";
    else if (c == '>') safe += "&gt;";
    else if (c == '&') safe += "&amp;";
    else if (c == '"') safe += "&quot;";
    else safe += c;
  }
  return safe;
}

// Returns what a Content-Security-Policy calls a text with that SHA-256.
std::string source_of(std::string_view digest) {
  auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < digest.size(); i += 2) bytes += char(value(digest[i]) * 16 + value(digest[i + 1]));
  return fmt::format("'sha256-{}'", to_base64(bytes));
}

std::string title_of(const Model& model) {
  std::string title = "fairlead " + model.command();
  if (!model.bundle().empty()) title += " " + model.bundle();
  return title + (model.outcome().empty() ? "" : ": " + model.outcome());
}

}  // namespace

std::string Timeline::page() const {
  std::string policy =
      fmt::format("default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
                  source_of(kJSDigest), source_of(kCSSDigest));
  std::string data = script_text(data_of(model_));
  std::string title = escaped(title_of(model_));
  // In the order in which they occur. Each is looked for only in the template, never in what was put in.
  const std::array<std::pair<std::string_view, std::string_view>, 5> parts = {
      {{"{{policy}}", policy}, {"{{title}}", title}, {"{{css}}", kCSS}, {"{{data}}", data}, {"{{js}}", kJS}}};
  std::string page;
  page.reserve(kHTML.size() + kCSS.size() + kJS.size() + data.size() + 1024);
  std::string_view rest = kHTML;
  for (const auto& [mark, text] : parts) {
    size_t at = rest.find(mark);
    if (at == std::string_view::npos) continue;
    page += rest.substr(0, at);
    page += text;
    rest.remove_prefix(at + mark.size());
  }
  page += rest;
  return page;
}

}  // namespace fairlead::timeline
