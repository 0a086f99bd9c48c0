#include "wait/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "object/name.h"
#include "object/selector.h"

namespace fairlead::wait {
namespace {

Error wrong(std::string what) { return Error(ErrorKind::invalid, std::move(what)).next("fairlead wait --help"); }

bool means_webhooks(std::string_view kind) { return kind == "webhook" || kind == "webhooks"; }

// Both kinds of configurations are meant by `webhook`.
std::vector<std::string> kinds_in(std::string_view list) {
  std::vector<std::string> kinds;
  while (true) {
    size_t comma = list.find(',');
    std::string kind(list.substr(0, comma));
    if (means_webhooks(kind)) {
      kinds.emplace_back("validatingwebhookconfigurations.admissionregistration.k8s.io");
      kinds.emplace_back("mutatingwebhookconfigurations.admissionregistration.k8s.io");
    } else {
      kinds.push_back(std::move(kind));
    }
    if (comma == std::string_view::npos) return kinds;
    list.remove_prefix(comma + 1);
  }
}

Result<Target> read_named(std::string_view kind, std::string_view name) {
  if (kind.empty() || kind.contains(',')) return fail(wrong(fmt::format("\"{}/{}\" is not KIND/NAME", kind, name)));
  Target target{.kinds = {std::string(kind)}};
  if (means_webhooks(kind)) {
    target.is_webhook = true;
    size_t slash = name.find('/');
    if (slash != std::string_view::npos) {
      target.hook = name.substr(slash + 1);
      TRY(object::check_path_segment("webhook", target.hook));
      name = name.substr(0, slash);
    }
  }
  if (Result<void> checked = object::check_path_segment("name", name); !checked)
    return fail(wrong(fmt::format("\"{}/{}\" is not KIND/NAME", kind, name)).because(checked.error().message()));
  target.name = name;
  return target;
}

Result<std::vector<Target>> read_slashed(const std::vector<std::string>& words, const Selection& selection) {
  if (selection.all || !selection.selector.empty())
    return fail(wrong("KIND/NAME cannot be used together with -l or --all: give the kind alone"));
  std::vector<Target> targets;
  for (const std::string& word : words) {
    size_t slash = word.find('/');
    if (slash == std::string::npos) return fail(wrong(fmt::format("\"{}\" is not KIND/NAME, as the others are", word)));
    TRY_ASSIGN(Target target,
               read_named(std::string_view(word).substr(0, slash), std::string_view(word).substr(slash + 1)));
    if (std::ranges::find(targets, target) == targets.end()) targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace

std::string Target::text() const {
  if (is_kind) return "kind " + kinds.front();
  if (!kind.empty()) return fmt::format("{}/{}", kind, name);
  if (is_webhook) return hook.empty() ? "webhook/" + name : fmt::format("webhook/{}/{}", name, hook);
  if (!is_group()) return fmt::format("{}/{}", kinds.front(), name);
  return fmt::format("{} {}", fmt::join(kinds, ","), selector.empty() ? "--all" : "-l " + selector);
}

Result<std::vector<Target>> read_targets(const std::vector<std::string>& words, const Selection& selection) {
  if (words.empty())
    return fail(wrong("nothing says what to wait for: give KIND/NAME, KIND with -l or --all, or -f FILE"));
  if (selection.all && !selection.selector.empty()) return fail(wrong("-l and --all cannot be used together"));
  if (std::ranges::any_of(words, [](const std::string& word) { return word.contains('/'); }))
    return read_slashed(words, selection);
  std::vector<Target> targets;
  for (size_t i = 1; i < words.size(); ++i) {
    if (selection.all || !selection.selector.empty())
      return fail(wrong("a name cannot be used together with -l or --all"));
    TRY_ASSIGN(Target target, read_named(words.front(), words[i]));
    if (std::ranges::find(targets, target) == targets.end()) targets.push_back(std::move(target));
  }
  if (!targets.empty()) return targets;
  if (!selection.all && selection.selector.empty())
    return fail(
        wrong(fmt::format("\"{0}\" names no object: write {0}/NAME, or give -l SELECTOR or --all", words.front())));
  if (Result<object::Selector> selector = object::Selector::parse(selection.selector); !selector)
    return fail(
        wrong(fmt::format("-l: \"{}\" cannot be read", selection.selector)).because(selector.error().message()));
  targets.push_back({.kinds = kinds_in(words.front()), .selector = selection.selector});
  return targets;
}

std::vector<Target> targets_of(const manifest::Bundle& bundle) {
  std::vector<Target> targets;
  for (const object::Object& object : bundle.objects)
    targets.push_back({.group = object.group(),
                       .version = object.version(),
                       .kind = object.kind(),
                       .ns = object.ns(),
                       .name = object.name(),
                       .source = object.source().text()});
  return targets;
}

}  // namespace fairlead::wait
