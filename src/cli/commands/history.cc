#include "history/history.h"

#include <charconv>
#include <map>

#include "cli/commands/commands.h"
#include "cli/commands/query.h"
#include "cli/core/exit_code.h"
#include "diff/diff.h"
#include "diff/lines.h"
#include "report/output.h"
#include "status/show.h"

namespace fairlead::cli {
namespace {

struct HistoryFlags {
  std::string name;
  std::string diff;
  bool show_secrets = false;
  std::string output = "text";
};

struct Range {
  int64_t from = 0;  // zero: the revision before `to`
  int64_t to = 0;
};

Result<Range> read_range(std::string_view text) {
  auto number = [](std::string_view part) {
    int64_t value = 0;
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size() ? value : 0;
  };
  size_t dots = text.find("..");
  bool is_pair = dots != std::string_view::npos;
  Range range{.from = is_pair ? number(text.substr(0, dots)) : 0, .to = number(is_pair ? text.substr(dots + 2) : text)};
  if (range.to > 0 && (!is_pair || range.from > 0)) return range;
  return fail(Error(ErrorKind::invalid, fmt::format("--diff: \"{}\" is no revision", text))
                  .next("write it like 3, or 2..3 to compare two of them"));
}

// The revision of that number; for zero, the one before `after`.
Result<history::Revision> choose(const std::vector<history::Revision>& revisions, int64_t number, int64_t after,
                                 const std::string& bundle) {
  for (const history::Revision& one : revisions)
    if (number > 0 ? one.number == number : one.number < after) return one;
  return fail(Error(ErrorKind::not_found, number > 0 ? fmt::format("bundle {} has no revision {}", bundle, number)
                                                     : fmt::format("no revision before {} is kept", after))
                  .next(fmt::format("fairlead history {}", bundle)));
}

// The manifest for people to compare. Values of Secrets that were not kept are shown as their hashes.
Json shown(const history::KeptObject& kept) {
  Json value = kept.object.value();
  for (const auto& [key, hash] : kept.hashes.members()) value.make("data").make(key) = hash;
  return value;
}

struct ObjectDiff {
  object::Key key;
  diff::Change change;
};

std::vector<ObjectDiff> compare(const std::vector<history::KeptObject>& before,
                                const std::vector<history::KeptObject>& after, bool show_secrets) {
  std::map<object::Key, std::pair<Json, Json>> both;
  for (const history::KeptObject& one : before) both[one.object.key()].first = shown(one);
  for (const history::KeptObject& one : after) both[one.object.key()].second = shown(one);
  std::vector<ObjectDiff> result;
  for (const auto& [key, pair] : both) {
    ObjectDiff one{
        .key = key,
        .change = diff::change_of(pair.first, pair.second, {.show_secrets = show_secrets, .own_labels = {}})};
    if (!one.change.empty()) result.push_back(std::move(one));
  }
  return result;
}

std::string_view action_of(const diff::Change& change) {
  if (change.before.empty()) return "added";
  return change.after.empty() ? "removed" : "changed";
}

std::string text_of(const std::vector<ObjectDiff>& all, const Range& range) {
  std::string text;
  for (const ObjectDiff& one : all) {
    text += fmt::format("{} {}\n", one.key.text(), action_of(one.change));
    text += diff::unified(one.change.before, one.change.after,
                          {.context = 3,
                           .colours = report::can_paint(stdout),
                           .before_name = fmt::format("revision {}", range.from),
                           .after_name = fmt::format("revision {}", range.to)});
  }
  return text;
}

Json json_of(const std::vector<ObjectDiff>& all, const Range& range) {
  Json::Array objects;
  for (const ObjectDiff& one : all) {
    Json::Array fields;
    for (const diff::FieldChange& field : one.change.fields)
      fields.emplace_back(Json::Object{
          {"path", field.path}, {"before", field.before.value_or(Json())}, {"after", field.after.value_or(Json())}});
    objects.emplace_back(Json::Object{{"group", one.key.group},
                                      {"kind", one.key.kind},
                                      {"namespace", one.key.ns},
                                      {"name", one.key.name},
                                      {"action", action_of(one.change)},
                                      {"fields", std::move(fields)}});
  }
  return Json::Object{{"schemaVersion", 1}, {"from", range.from}, {"to", range.to}, {"objects", std::move(objects)}};
}

Task<Result<int>> show_diff(Cluster& cluster, const inventory::Inventory& inventory, const HistoryFlags& flags) {
  CO_TRY_ASSIGN(Range range, read_range(flags.diff));
  std::vector<history::Revision> revisions = history::revisions_of(inventory);
  CO_TRY_ASSIGN(history::Revision to, choose(revisions, range.to, 0, flags.name));
  CO_TRY_ASSIGN(history::Revision from, choose(revisions, range.from, to.number, flags.name));
  range.from = from.number;
  auto before = co_await history::read_revision(cluster.client(), inventory, from);
  if (!before) co_return fail(before.error());
  auto after = co_await history::read_revision(cluster.client(), inventory, to);
  if (!after) co_return fail(after.error());
  std::vector<ObjectDiff> all = compare(*before, *after, flags.show_secrets);
  std::vector<std::string> notes;
  if (all.empty()) notes.push_back(fmt::format("revisions {} and {} have the same manifests", range.from, range.to));
  print_result(flags.output, text_of(all, range), json_of(all, range), notes);
  co_return int(kDone);
}

Task<Result<int>> show_history(Cluster& cluster, const HistoryFlags& flags) {
  auto inventory =
      co_await status::open_bundle(cluster.client(), cluster.discovery(), flags.name, cluster.default_namespace());
  if (!inventory) co_return fail(inventory.error());
  if (!flags.diff.empty()) co_return co_await show_diff(cluster, **inventory, flags);
  std::vector<history::Revision> revisions = history::revisions_of(**inventory);
  std::vector<std::string> notes;
  if (revisions.empty()) notes.emplace_back("no runs of this bundle are kept");
  status::Show how{.now = cluster.client().server_now(), .wide = flags.output == "wide"};
  print_result(flags.output, revisions.empty() ? "" : status::text_of(revisions, how),
               status::json_of(flags.name, (*inventory)->home(), revisions), notes);
  co_return int(kDone);
}

}  // namespace

void add_history(Command app, Invocation& invocation) {
  auto flags = std::make_shared<HistoryFlags>();
  Command command = app.subcommand("history", "Show the last ten runs that changed a bundle");
  command.option("NAME", flags->name, "The bundle's name").required().value("");
  command.option("--diff", flags->diff, "What a revision changed; A..B compares two of them").value("REVISION");
  command.flag("--show-secrets", flags->show_secrets, "Show the values of Secrets, where they were kept");
  add_query_output(command, flags->output);
  command.footer(
      "Examples:\n"
      "  fairlead history shop\n"
      "  fairlead history shop --diff 3\n"
      "  fairlead history shop --diff 1..3 -o json\n\n"
      "Exit codes: 0 shown, 1 failed, 64 invalid command line, 130 interrupted.");
  command.when_chosen([&invocation, flags] {
    invocation.run = [&invocation, flags] {
      return run_query(invocation.globals, [flags](Cluster& cluster) { return show_history(cluster, *flags); });
    };
  });
}

}  // namespace fairlead::cli
