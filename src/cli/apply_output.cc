#include "cli/apply_output.h"

#include <algorithm>
#include <cstdio>

namespace fairlead::cli {
namespace {

using Outcome = Applied::Outcome;

std::string_view word_for(Outcome outcome) {
  switch (outcome) {
    case Outcome::created: return "created";
    case Outcome::applied: return "applied";
    case Outcome::refused: return "refused";
    case Outcome::not_sent: return "not sent";
  }
  return "";
}

Json error_json(const Error& error) {
  Json json(Json::Object{{"what", error.what()}});
  Json::Array causes;
  for (const Error* cause = error.cause(); cause; cause = cause->cause()) causes.emplace_back(cause->what());
  json.make("because") = std::move(causes);
  if (!error.where().empty()) json.make("from") = error.where();
  if (!error.next().empty()) json.make("next") = error.next();
  return json;
}

void put_line(const Json& json) { std::puts(json.dump().c_str()); }

}  // namespace

ApplyOutput::ApplyOutput(OutputFormat format, bool dry_run, const std::vector<object::Object>& objects)
    : format_(format), dry_run_(dry_run), objects_(objects), results_(objects.size()) {}

void ApplyOutput::add(size_t index, Applied result) {
  results_[index] = std::move(result);
  while (printed_ < results_.size() && results_[printed_]) print(printed_++);
}

void ApplyOutput::print(size_t index) {
  const Applied& result = *results_[index];
  const object::Object& object = objects_[index];
  if (format_ == OutputFormat::jsonl) put_line(as_json(object, result));
  if (format_ == OutputFormat::text || format_ == OutputFormat::quiet) print_text(object, result);
}

void ApplyOutput::print_text(const object::Object& object, const Applied& result) const {
  for (const std::string& warning : result.warnings)
    std::fprintf(stderr, "warning: %s: %s\n", object.key().text().c_str(), warning.c_str());
  if (result.error) std::fputs(result.error->report().c_str(), stderr);
  if (format_ == OutputFormat::quiet || result.error) return;
  std::printf("%s %s%s\n", object.key().text().c_str(), std::string(word_for(result.outcome)).c_str(),
              dry_run_ ? " (dry run)" : "");
}

Json ApplyOutput::as_json(const object::Object& object, const Applied& result) const {
  Json json(Json::Object{{"type", "object"},
                         {"group", object.group()},
                         {"version", object.version()},
                         {"kind", object.kind()},
                         {"namespace", object.ns()},
                         {"name", object.name()},
                         {"source", object.source().text()},
                         {"outcome", word_for(result.outcome)}});
  if (!result.warnings.empty()) json.make("warnings") = Json::Array(result.warnings.begin(), result.warnings.end());
  if (result.error) json.make("error") = error_json(*result.error);
  return json;
}

Json ApplyOutput::summary(Duration took, uint64_t requests, const std::optional<Error>& trouble) const {
  Json json(Json::Object{{"type", "summary"}, {"dryRun", dry_run_}});
  for (Outcome outcome : {Outcome::created, Outcome::applied, Outcome::refused, Outcome::not_sent})
    json.make(outcome == Outcome::not_sent ? "notSent" : word_for(outcome)) = uint64_t{count(outcome)};
  json.make("seconds") = std::chrono::duration<double>(took).count();
  json.make("requests") = requests;
  if (trouble) json.make("error") = error_json(*trouble);
  return json;
}

void ApplyOutput::finish(Duration took, uint64_t requests, const std::optional<Error>& trouble) {
  for (; printed_ < results_.size(); ++printed_)
    if (results_[printed_]) print(printed_);
  Json totals = summary(took, requests, trouble);
  if (format_ == OutputFormat::jsonl) put_line(totals);
  if (format_ == OutputFormat::json) {
    Json::Array objects;
    for (size_t i = 0; i < objects_.size(); ++i)
      objects.push_back(as_json(objects_[i], results_[i].value_or(Applied{})));
    Json document(Json::Object{{"objects", std::move(objects)}, {"summary", std::move(totals)}});
    std::fputs(document.pretty().c_str(), stdout);
  }
  if (format_ == OutputFormat::text) {
    std::string text;
    for (Outcome outcome : {Outcome::created, Outcome::applied, Outcome::refused, Outcome::not_sent})
      if (size_t n = count(outcome)) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, word_for(outcome));
    std::printf("%s in %.1fs, with %lu requests%s\n", text.c_str(), std::chrono::duration<double>(took).count(),
                requests, dry_run_ ? " (dry run: nothing was stored)" : "");
  }
  std::fflush(stdout);
  if (trouble && (format_ == OutputFormat::text || format_ == OutputFormat::quiet))
    std::fputs(trouble->report().c_str(), stderr);
}

size_t ApplyOutput::count(Outcome outcome) const {
  return size_t(std::ranges::count_if(
      results_, [&](const auto& result) { return (result ? result->outcome : Outcome::not_sent) == outcome; }));
}

bool ApplyOutput::only_conflicts() const {
  return std::ranges::all_of(results_, [](const auto& result) {
    return !result || result->outcome != Outcome::refused || result->is_conflict;
  });
}

}  // namespace fairlead::cli
