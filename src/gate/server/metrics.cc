#include "gate/server/metrics.h"

#include <fmt/format.h>

#include <iterator>

namespace fairlead::gate {
namespace {

void head_of(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

}  // namespace

std::string_view name_of(Decided decided) {
  switch (decided) {
    case Decided::allowed: return "allowed";
    case Decided::waited: return "waited";
    case Decided::refused: return "refused";
    case Decided::spent: return "patience-used-up";
    case Decided::unproved: return "not-proved";
    case Decided::malformed: return "malformed";
  }
  return "";
}

std::string label_text(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string text_of(const Counts& counts, size_t held) {
  std::string out;
  auto add = std::back_inserter(out);
  head_of(out, "fairlead_gate_requests_total", "counter", "Requests by what became of them.");
  for (size_t i = 0; i < kDecisions; ++i)
    fmt::format_to(add, "fairlead_gate_requests_total{{decision=\"{}\"}} {}\n", name_of(static_cast<Decided>(i)),
                   counts.decided[i]);
  head_of(out, "fairlead_gate_held", "gauge", "Requests that are held now.");
  fmt::format_to(add, "fairlead_gate_held {}\n", held);
  head_of(out, "fairlead_gate_waits_total", "counter", "Requests that met a webhook which did not work, by webhook.");
  for (const auto& [hook, per] : counts.hooks)
    for (auto [what, number] : {std::pair("held", per.held), {"refused", per.refused}, {"patience-used-up", per.spent}})
      fmt::format_to(add, "fairlead_gate_waits_total{{webhook=\"{}\",what=\"{}\"}} {}\n", label_text(hook), what,
                     number);
  head_of(out, "fairlead_gate_waited_seconds_total", "counter", "Time that requests were held, by webhook.");
  for (const auto& [hook, per] : counts.hooks)
    fmt::format_to(add, "fairlead_gate_waited_seconds_total{{webhook=\"{}\"}} {}\n", label_text(hook),
                   std::chrono::duration<double>(per.waited).count());
  return out;
}

}  // namespace fairlead::gate
