// What is kept of a run of a bundle: who ran it and how it ended, and the manifests that it applied. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "object/object.h"

namespace fairlead::history {

// An entry of the list of revisions, which is an annotation of the bundle's record.
struct Revision {
  int64_t number = 0;
  std::string how;      // "done", "failed" …
  std::string who;      // "ann@laptop, process 4711"
  std::string when;     // RFC 3339
  std::string note;     // "rollback to revision 2"; usually empty
  std::string version;  // of Fairlead
  int64_t objects = 0;
  // Of the manifests: two revisions with the same digest applied the same.
  std::string digest;
  // The number of Secrets that hold the manifests. Zero if they are not kept because they are too large.
  int64_t chunks = 0;
  // The values of Secrets are kept as well, not only their hashes.
  bool has_secrets = false;
  // The manifests have Helm hooks for the deletion of the bundle.
  bool has_delete_hooks = false;

  bool is_done() const { return how == "done"; }
  bool operator==(const Revision&) const = default;
};

// Reads and writes the annotation. The text may be hostile: every part is limited in size, and what is no revision is
// left out. Sorted by number, the newest first.
std::vector<Revision> parse_revisions(std::string_view text);
std::string dump(const std::vector<Revision>& revisions);
// For people and programs: without the digest.
Json to_json(const Revision& revision);

// An object as it was applied.
struct KeptObject {
  object::Object object;
  // What the run did with it: "created", "changed", "unchanged" …
  std::string outcome;
  // Of a Secret whose values are not kept: the hash of each value of `data`, by key. The object then has no `data`.
  // Null for everything else.
  Json hashes;
};

// The object as it is kept. `salt` makes hashes of different bundles differ. If the values of Secrets are not kept,
// they are replaced by hashes, and annotations that may repeat them are dropped.
KeptObject kept(const object::Object& object, std::string_view outcome, bool with_secrets, std::string_view salt);

// The hash of one value of a Secret, from its base64.
std::string hash_of(std::string_view base64, std::string_view key, std::string_view salt);

// The manifests of a revision as one text, and back. The digest is that of the manifests alone: it depends neither on
// the outcomes nor on the files that the objects came from.
struct Manifests {
  std::string text;
  std::string digest;
};
Manifests dump(int64_t revision, const std::vector<KeptObject>& objects);
// Fails if the text is not that of this revision.
Result<std::vector<KeptObject>> parse_manifests(std::string_view text, int64_t revision);

}  // namespace fairlead::history
