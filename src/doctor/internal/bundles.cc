#include "doctor/internal/bundles.h"

#include <algorithm>
#include <map>

#include "doctor/checks.h"
#include "doctor/internal/texts.h"
#include "doctor/reading.h"
#include "graph/hooks.h"

namespace fairlead::doctor {
namespace {

using inventory::BundleName;

constexpr std::string_view kClaimAnnotation = "fairlead.dev/claim";
constexpr std::string_view kRecordPrefix = "fairlead-";

object::Key record_key(const BundleName& bundle) {
  return {.group = "", .kind = "ConfigMap", .ns = bundle.home, .name = bundle.record()};
}

std::string status_command(const BundleName& bundle) {
  return fmt::format("fairlead status {} -n {}", bundle.name, bundle.home);
}

// Every object that has the label of a bundle.
std::vector<const Json*> labelled(const Snapshot& snapshot) {
  std::vector<const Json*> all;
  auto add = [&](const Json& object) {
    if (!inventory::part_of(object).empty()) all.push_back(&object);
  };
  for (std::string_view kind : snapshot.kinds())
    for (const Json& object : snapshot.all(kind)) add(object);
  for (const Json& object : snapshot.members) add(object);
  return all;
}

bool covers(const Record& record, const object::Key& key) {
  bool is_in_reach = key.ns.empty() || key.ns == record.bundle.home || record.coverage.namespaces.contains(key.ns);
  return is_in_reach && record.coverage.kinds.contains({.group = key.group, .kind = key.kind});
}

// Returns the bundle that applied the object; nothing if none did under its own name.
std::optional<BundleName> applied_by(const Json& object) {
  for (const Json& entry : object["metadata"]["managedFields"].items()) {
    if (entry["operation"].string_or("") != "Apply" || !entry["subresource"].string_or("").empty()) continue;
    if (std::optional<BundleName> bundle = BundleName::of_manager(entry["manager"].string_or(""))) return bundle;
  }
  return std::nullopt;
}

Finding finding_for(std::string_view code, const BundleName& bundle, std::string what, std::string cause) {
  return {.code = code,
          .severity = Severity::warning,
          .object = record_key(bundle),
          .what = std::move(what),
          .causes = {std::move(cause)},
          .next = status_command(bundle)};
}

std::vector<std::string> texts_of(const std::vector<object::Key>& keys) {
  std::vector<std::string> texts;
  for (const object::Key& key : keys) texts.push_back(key.text());
  return texts;
}

// Compares the labels of objects with the inventories.
class Comparison {
 public:
  explicit Comparison(const Snapshot& snapshot) : snapshot_(snapshot), records_(records_of(snapshot)) {}

  void look_at(const Json& object) {
    object::Key key = key_of(object);
    std::optional<BundleName> owner = inventory::owner_of(object);
    if (!owner) return look_at_stranger(object, key);
    const Record* record = find(*owner);
    Disagreement& its = of(*owner);
    if (!record) its.unrecorded.push_back(std::move(key));
    else if (!record->is_claimed && !covers(*record, key)) its.uncovered.push_back(std::move(key));
  }

  void report(Findings& findings) {
    for (auto& [name, one] : disagreements_) {
      const BundleName& bundle = one.bundle;
      if (!one.unrecorded.empty() && snapshot_.sees_all("inventory")) {
        findings.push_back(finding_for(
            "bundle-inventory-missing", bundle,
            fmt::format("objects of {} have no inventory: {}", bundle.text(), listed(texts_of(one.unrecorded))),
            fmt::format("ConfigMap {}/{} does not exist, so nobody prunes or deletes them", bundle.home,
                        bundle.record())));
        findings.back().next = fmt::format("fairlead apply --name {} -n {} … makes it again, or kubectl delete them",
                                           bundle.name, bundle.home);
        findings.back().related = one.unrecorded;
      }
      if (one.uncovered.empty()) continue;
      findings.push_back(finding_for(
          "bundle-not-covered", bundle,
          fmt::format("the inventory of {} does not cover {}", bundle.text(), listed(texts_of(one.uncovered))),
          "they have its label, and their kind or namespace is not in the inventory: they are not pruned or deleted"));
      findings.back().next =
          fmt::format("apply the bundle again: fairlead apply --name {} -n {} …", bundle.name, bundle.home);
      findings.back().related = one.uncovered;
    }
    for (Finding& finding : strangers_) findings.push_back(std::move(finding));
  }

  const std::vector<Record>& records() const { return records_; }

 private:
  struct Disagreement {
    BundleName bundle;
    std::vector<object::Key> unrecorded;
    std::vector<object::Key> uncovered;
  };

  Disagreement& of(const BundleName& bundle) {
    Disagreement& found = disagreements_[bundle.text()];
    found.bundle = bundle;
    return found;
  }
  const Record* find(const BundleName& bundle) const {
    auto found = std::ranges::find(records_, bundle, &Record::bundle);
    return found == records_.end() ? nullptr : &*found;
  }

  // An object that one bundle applied, with the label of another.
  void look_at_stranger(const Json& object, const object::Key& key) {
    std::optional<BundleName> applier = applied_by(object);
    if (!applier || applier->label_value() == inventory::part_of(object)) return;
    auto labelled_by = std::ranges::find_if(
        records_, [&](const Record& one) { return one.bundle.label_value() == inventory::part_of(object); });
    std::string other = labelled_by == records_.end() ? "another bundle" : labelled_by->bundle.text();
    strangers_.push_back(
        {.code = "bundle-label-differs",
         .severity = Severity::warning,
         .object = key,
         .what = fmt::format("{} has the label of {}, and was applied by {}", key.text(), other, applier->text()),
         .causes = {"neither bundle prunes or deletes it"},
         .next = fmt::format("fairlead apply --name {} -n {} … writes its label again", applier->name, applier->home),
         .related = {record_key(*applier)}});
  }

  const Snapshot& snapshot_;
  std::vector<Record> records_;
  std::map<std::string, Disagreement> disagreements_;
  Findings strangers_;
};

bool is_there(const Snapshot& snapshot, const object::Key& key) {
  if (const Json* found = snapshot.find(key.kind, key.ns, key.name); found && key_of(*found).group == key.group)
    return true;
  return std::ranges::any_of(snapshot.members, [&](const Json& one) { return key_of(one) == key; });
}

// What was applied stays until it is deleted. Hooks go by their own policies.
bool should_be_there(const history::KeptObject& kept) {
  bool was_stored = kept.outcome == "created" || kept.outcome == "changed" || kept.outcome == "unchanged";
  return was_stored && !kept.object.annotations().contains(graph::kHookAnnotation);
}

void check_missing(const Snapshot& snapshot, const Record& record, Findings& findings) {
  if (!record.revision || record.is_claimed) return;
  object::Key secret = record.revision_secret();
  const Json* kept = snapshot.find("Secret", secret.ns, secret.name);
  if (!kept) return;
  Result<std::vector<history::KeptObject>> objects = history::unpack(*kept, *record.revision);
  if (!objects) return;
  std::vector<object::Key> missing;
  for (const history::KeptObject& one : *objects) {
    object::Key key = one.object.key();
    if (!should_be_there(one) || !sees_members(snapshot, key.group, key.kind) || is_there(snapshot, key)) continue;
    missing.push_back(std::move(key));
  }
  if (missing.empty()) return;
  findings.push_back(
      finding_for("bundle-members-missing", record.bundle,
                  fmt::format("{} lacks {}", record.bundle.text(), listed(texts_of(missing))),
                  fmt::format("revision {} applied {}, and somebody has deleted {} since", record.revision->number,
                              missing.size() == 1 ? "it" : "them", missing.size() == 1 ? "it" : "them")));
  findings.back().next =
      fmt::format("fairlead apply --name {} -n {} … creates what is missing", record.bundle.name, record.bundle.home);
  findings.back().related = std::move(missing);
}

}  // namespace

object::Key Record::revision_secret() const {
  return {.group = "",
          .kind = "Secret",
          .ns = bundle.home,
          .name = revision ? history::secret_name(bundle.record(), *revision) : ""};
}

bool sees_members(const Snapshot& snapshot, const std::string& group, const std::string& kind) {
  return (reads_all(group, kind) && snapshot.sees_all(kind)) || snapshot.sees_members(group, kind);
}

std::vector<Record> records_of(const Snapshot& snapshot) {
  std::vector<Record> records;
  for (const Json& object : snapshot.all("ConfigMap")) {
    const Json& annotations = object["metadata"]["annotations"];
    if (!name_of(object).starts_with(kRecordPrefix) ||
        !annotations[inventory::kToolingAnnotation].string_or("").starts_with("fairlead/"))
      continue;
    std::string home(namespace_of(object));
    Record record{.bundle = {.name = std::string(name_of(object).substr(kRecordPrefix.size())), .home = home},
                  .coverage = inventory::Coverage::read(annotations, home),
                  .is_claimed = annotations.contains(kClaimAnnotation)};
    std::vector<history::Revision> revisions = history::revisions_in(object);
    if (!revisions.empty() && revisions.front().is_done() && revisions.front().chunks == 1)
      record.revision = revisions.front();
    records.push_back(std::move(record));
  }
  return records;
}

void check_bundles(const Snapshot& snapshot, Findings& findings) {
  Comparison comparison(snapshot);
  for (const Json* object : labelled(snapshot)) comparison.look_at(*object);
  comparison.report(findings);
  for (const Record& record : comparison.records()) check_missing(snapshot, record, findings);
}

}  // namespace fairlead::doctor
