#include "cli/runs/fleet.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "async/scope.h"
#include "base/printable.h"
#include "cli/core/exit_code.h"
#include "report/output.h"

namespace fairlead::cli {
namespace {

using journal::Outcome;
using report::Format;

constexpr std::string_view kAll = "all";
constexpr int kMostAtOnce = 1000;

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    std::string name(list.substr(0, comma));
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

constexpr std::pair<Outcome, std::string_view> kCounted[] = {
    {Outcome::done, "done"},           {Outcome::failed, "failed"},           {Outcome::timed_out, "timedOut"},
    {Outcome::conflicts, "conflicts"}, {Outcome::interrupted, "interrupted"}, {Outcome::declined, "declined"}};

// A stream in memory for what a run prints for programs.
class Captured {
 public:
  Captured() : file_(::open_memstream(&text_, &size_)) {}
  ~Captured() {
    std::fclose(file_);
    std::free(text_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::FILE* file() { return file_; }
  std::string_view text() {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_;
};

// One of the clusters, while it is waited for and afterwards.
struct Member {
  std::string context;
  // Nothing if the run has not begun.
  std::optional<ClusterEnding> ending;
  Duration took{};
  // What `-o json` has of it.
  Json document;
};

std::string_view outcome_of(const Member& member) { return member.ending ? name_of(member.ending->how) : "not begun"; }

class FleetRun {
 public:
  FleetRun(RealLoop& loop, Fleet fleet, journal::Journal& journal, RunInCluster run, CancelSource& stop)
      : loop_(loop), fleet_(std::move(fleet)), journal_(journal), run_(std::move(run)), stop_(stop) {
    // Several runs go on side by side, and a live view is of one run.
    if (fleet_.settings.progress == report::Progress::live) fleet_.settings.progress = report::Progress::plain;
    for (std::string& context : fleet_.contexts) members_.push_back({.context = std::move(context)});
  }

  Task<int> run_all() {
    report::claim_results();
    TimePoint begun = loop_.now();
    {
      Scope scope(loop_, nullptr);
      size_t workers = std::min<size_t>(members_.size(), fleet_.flags.at_once);
      for (size_t i = 0; i < workers; ++i) scope.spawn(work());
      co_await scope.join();
    }
    show(loop_.now() - begun);
    co_return code();
  }

 private:
  bool has_failed() const {
    return std::ranges::any_of(
        members_, [](const Member& member) { return member.ending && member.ending->how != Outcome::done; });
  }

  bool may_begin() const {
    return next_ < members_.size() && !stop_.cancelled() && (fleet_.flags.stop_on != "failure" || !has_failed());
  }

  // Takes one cluster after the other.
  Task<void> work() {
    while (may_begin()) co_await run_in(members_[next_++]);
  }

  Task<void> run_in(Member& member) {
    TimePoint begun = loop_.now();
    journal::Journal own(loop_.clock());
    bool is_detailed = journal_.is_detailed();
    own.read_by([this, &member](const journal::Event& event) { pass_on(member, event); },
                is_detailed ? journal::Detail::full : journal::Detail::usual);
    ClusterRun run{
        .globals = fleet_.globals, .kubeconfig = fleet_.kubeconfig, .settings = fleet_.settings, .journal = own};
    run.globals.context = member.context;
    run.settings.prefix = fmt::format("[{}] ", member.context);
    run.settings.context = member.context;
    Captured captured;
    if (run.settings.format == Format::json) run.settings.out = captured.file();
    ClusterEnding ending = co_await run_(std::move(run));
    if (fleet_.settings.format == Format::json)
      if (Result<Json> document = Json::parse(captured.text())) member.document = *std::move(document);
    member.took = loop_.now() - begun;
    member.ending = std::move(ending);
    if (const std::optional<Error>& error = member.ending->error) tell(member, *error);
  }

  // Shows an error that no report of the run has.
  void tell(Member& member, const Error& error) {
    if (fleet_.settings.format == Format::json)
      member.document = Json(Json::Object{{"errors", Json::Array{journal::to_json(error)}}});
    else if (fleet_.settings.format == Format::jsonl)
      std::fputs((Json(Json::Object{{"type", "summary"},
                                    {"outcome", outcome_of(member)},
                                    {"schemaVersion", journal::kSchemaVersion},
                                    {"context", member.context},
                                    {"errors", Json::Array{journal::to_json(error)}}})
                      .dump() +
                  "\n")
                     .c_str(),
                 fleet_.settings.out);
    else report::print(fleet_.settings.err, report::with_prefix(error.report(), fmt::format("[{}] ", member.context)));
  }

  void pass_on(const Member& member, journal::Event event) {
    event.details.make("context") = member.context;
    journal_.add(std::move(event));
  }

  size_t count(Outcome how) const {
    return size_t(std::ranges::count_if(
        members_, [&](const Member& member) { return member.ending && member.ending->how == how; }));
  }

  // How many clusters have which outcome.
  std::vector<report::Count> counts() const {
    std::vector<report::Count> counts;
    size_t begun = 0;
    for (const auto& [how, name] : kCounted) {
      counts.push_back({.name = name, .words = name_of(how), .count = count(how)});
      begun += counts.back().count;
    }
    counts.push_back({.name = "notBegun", .words = "not begun", .count = members_.size() - begun});
    return counts;
  }

  Json summary(Duration took) const {
    Json clusters(Json::Object{{"total", uint64_t{members_.size()}}});
    for (const report::Count& one : counts()) clusters.make(one.name) = uint64_t{one.count};
    return Json::Object{{"type", "summary"},
                        {"outcome", code() == kDone          ? "done"
                                    : code() == kInterrupted ? "interrupted"
                                                             : "failed"},
                        {"schemaVersion", journal::kSchemaVersion},
                        {"clusters", std::move(clusters)},
                        {"seconds", report::seconds(took)}};
  }

  void show(Duration took) {
    std::FILE* out = fleet_.settings.out;
    if (fleet_.settings.format == Format::json) {
      Json::Array clusters;
      for (Member& member : members_) {
        Json one(Json::Object{{"context", member.context}, {"outcome", outcome_of(member)}});
        if (Json::Object* parts = member.document.if_object())
          for (auto& [name, value] : *parts)
            if (name != "schemaVersion") one.make(name) = std::move(value);
        clusters.push_back(std::move(one));
      }
      Json document(Json::Object{
          {"schemaVersion", journal::kSchemaVersion}, {"clusters", std::move(clusters)}, {"summary", summary(took)}});
      std::fputs(document.pretty().c_str(), out);
    }
    if (fleet_.settings.format == Format::jsonl) std::fputs((summary(took).dump() + "\n").c_str(), out);
    if (fleet_.settings.format == Format::text) report::print(out, table() + totals(took));
    std::fflush(out);
  }

  std::string table() const {
    size_t width = std::string_view("CONTEXT").size();
    for (const Member& member : members_) width = std::max(width, printable_line(member.context).size());
    std::string text = fmt::format("{:<{}}  RESULT       SECONDS  OBJECTS\n", "CONTEXT", width);
    for (const Member& member : members_) {
      std::string seconds = member.ending ? fmt::format("{:.1f}", report::seconds(member.took)) : "";
      std::string line = fmt::format("{:<{}}  {:<11}  {:>7}  {}", printable_line(member.context), width,
                                     outcome_of(member), seconds, member.ending ? member.ending->totals : "");
      line.resize(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

  std::string totals(Duration took) const {
    std::string text = fmt::format("{} cluster{}: ", members_.size(), members_.size() == 1 ? "" : "s");
    std::string separator;
    for (const report::Count& one : counts())
      if (one.count > 0) text += fmt::format("{}{} {}", std::exchange(separator, ", "), one.count, one.words);
    return text + fmt::format(" in {:.1f}s\n", report::seconds(took));
  }

  int code() const {
    if (stop_.cancelled()) return kInterrupted;
    std::optional<int> common;
    for (const Member& member : members_) {
      if (member.ending && member.ending->how == Outcome::done) continue;
      int one = member.ending ? exit_code(member.ending->how) : common.value_or(kFailed);
      if (common && *common != one) return kFailed;
      common = one;
    }
    return common.value_or(kDone);
  }

  RealLoop& loop_;
  Fleet fleet_;
  journal::Journal& journal_;
  RunInCluster run_;
  CancelSource& stop_;
  std::vector<Member> members_;
  size_t next_ = 0;
};

}  // namespace

void add_fleet_flags(Command command, FleetFlags& flags) {
  Flag contexts =
      command
          .option(
              "--contexts", flags.contexts,
              "Do it in several clusters: contexts of the kubeconfig with commas between them, or all that may be used")
          .value("LIST");
  command.option("--max-clusters-at-once", flags.at_once, "Number of clusters that are worked on at the same time")
      .between(1, kMostAtOnce)
      .value("N")
      .show_default()
      .needs(contexts);
  command
      .option("--stop-on", flags.stop_on,
              "Begin with no further cluster after a run has failed (failure), or go on with all of them (never)")
      .one_of({"failure", "never"})
      .show_default()
      .needs(contexts);
}

Error not_in_a_fleet(std::string_view flag) {
  return Error(ErrorKind::invalid, fmt::format("--contexts and {} cannot be used together", flag))
      .next("run one command per cluster, with --context NAME");
}

Result<Fleet> read_fleet(const FleetFlags& flags, const Globals& globals, const report::Settings& settings) {
  if (!globals.context.empty()) return fail(not_in_a_fleet("--context"));
  if (!globals.cluster.empty()) return fail(not_in_a_fleet("--cluster"));
  if (!globals.server.empty()) return fail(not_in_a_fleet("--server"));
  TRY_ASSIGN(kube::Kubeconfig kubeconfig, read_kubeconfig(globals));
  std::vector<std::string> known = kubeconfig.contexts();
  std::vector<std::string> wanted = names_in(flags.contexts);
  if (flags.contexts == kAll) {
    wanted = known;
    std::erase_if(wanted, [&](const std::string& name) { return !check_context(globals, name); });
  }
  if (wanted.empty()) return fail(ErrorKind::invalid, "--contexts names no context");
  for (const std::string& name : wanted) {
    if (std::ranges::find(known, name) == known.end())
      return fail(Error(ErrorKind::not_found, fmt::format("context \"{}\" not found in the kubeconfig", name))
                      .next("kubectl config get-contexts"));
    TRY(check_context(globals, name));
  }
  return Fleet{.contexts = std::move(wanted),
               .flags = flags,
               .globals = globals,
               .kubeconfig = std::move(kubeconfig),
               .settings = settings};
}

Task<int> run_fleet(RealLoop& loop, Fleet fleet, journal::Journal& journal, RunInCluster run, CancelSource& stop) {
  FleetRun all(loop, std::move(fleet), journal, std::move(run), stop);
  co_return co_await all.run_all();
}

}  // namespace fairlead::cli
