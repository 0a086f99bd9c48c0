#include "graph/internal/guard_matches.h"

#include "graph/internal/match_filter.h"
#include "graph/internal/pods.h"

namespace fairlead::graph {
namespace {

using admission::Certainty;

// A guard that has to be compared with each object of a group.
struct Check {
  GuardId guard;
  Certainty certainty = Certainty::maybe;
  bool by_pods = false;
};

// The objects of one kind in one namespace.
struct Group {
  std::vector<GuardMatch> fixed;
  std::vector<Check> checks;
  uint32_t set = 0;  // the set of `fixed`; valid if there are no checks
};

struct Place {
  std::optional<Json> labels;
  // By guard. Empty until it is needed.
  plan::IdVector<GuardId, std::optional<Certainty>> fits;
};

// The argument of could_match(), filled on first use.
struct Subject {
  admission::Prospect prospect;
  bool is_made = false;
};

class GuardMatches {
 public:
  GuardMatches(GraphBuilder& builder, const plan::IdVector<GuardId, GuardMatcher>& matchers)
      : builder_(builder), matchers_(matchers) {
    filters_.reserve(matchers.size());
    for (const GuardMatcher& matcher : matchers) filters_.add(MatchFilters(matcher));
    pod_ = builder.kinds.number_of("", "v1", "Pod");
  }

  void run() {
    for (NodeId i : builder_.objects())
      if (!builder_.contents->left_out[i]) builder_.contents->match_sets[i] = set_of(i);
  }

 private:
  struct Candidate {
    GuardId guard;
    Certainty certainty = Certainty::maybe;
  };

  uint32_t set_of(NodeId object) {
    uint32_t place = builder_.key(object).ns.empty() ? kNone : place_of(builder_.key(object).ns);
    Group& group = group_of(builder_.kind_of[object], place);
    if (group.checks.empty()) return group.set;
    std::vector<GuardMatch> matches = group.fixed;
    Subject itself;
    Subject pods;
    for (const Check& check : group.checks) {
      Certainty certainty = judge(object, place, check, check.by_pods ? pods : itself);
      if (certainty != Certainty::never)
        matches.push_back({.guard = check.guard, .certainty = certainty, .by_pods = check.by_pods});
    }
    return intern(std::move(matches));
  }

  // Returns the guards whose rules match the kind in some namespace.
  const std::vector<Candidate>& candidates(uint32_t kind, bool as_pods) {
    std::vector<std::optional<std::vector<Candidate>>>& cache = as_pods ? pod_candidates_ : candidates_;
    if (cache.size() <= kind) cache.resize(kind + 1);
    if (cache[kind]) return *cache[kind];
    std::vector<Candidate>& found = cache[kind].emplace();
    for (GuardId g : builder_.contents->guards.ids()) {
      Certainty certainty = filters_[g].by_rules(builder_.kinds[kind], as_pods);
      if (!as_pods && is_way_in(builder_.contents->guards[g], builder_.kinds[kind])) certainty = Certainty::certainly;
      if (certainty != Certainty::never) found.push_back({.guard = g, .certainty = certainty});
    }
    return found;
  }

  static bool is_way_in(const Guard& guard, const Kind& kind) {
    if (guard.kind == Guard::Kind::conversion)
      return kind.definition != nullptr &&
             guard.configuration.name == (*kind.definition)["metadata"]["name"].string_or("");
    return guard.kind == Guard::Kind::api_service &&
           guard.name == (kind.kind.group.empty() ? kind.kind.version : kind.kind.version + "." + kind.kind.group);
  }

  Group& group_of(uint32_t kind, uint32_t place) {
    uint64_t id = uint64_t{kind} << 32 | place;
    auto [entry, is_new] = groups_.try_emplace(id);
    Group& group = entry->second;
    if (!is_new) return group;
    add_candidates(group, candidates(kind, false), builder_.kinds[kind].family, place, false);
    Family family = builder_.kinds[kind].family;
    if (family == Family::workload || family == Family::job || family == Family::cron_job)
      add_candidates(group, candidates(pod_, true), family, place, true);
    if (group.checks.empty()) group.set = intern(group.fixed);
    return group;
  }

  void add_candidates(Group& group, const std::vector<Candidate>& from, Family family, uint32_t place, bool by_pods) {
    for (const Candidate& candidate : from) {
      const MatchFilters& filters = filters_[candidate.guard];
      bool is_namespace = family == Family::name_space;
      Certainty certainty = candidate.certainty;
      if (!is_namespace && place != kNone) certainty = std::min(certainty, fits(place, candidate.guard));
      if (certainty == Certainty::never) continue;
      bool is_open =
          !filters.looks_at_labels() && !filters.looks_at_objects() && !(is_namespace && filters.looks_at_namespaces());
      if (is_open) group.fixed.push_back({.guard = candidate.guard, .certainty = certainty, .by_pods = by_pods});
      else group.checks.push_back({.guard = candidate.guard, .certainty = certainty, .by_pods = by_pods});
    }
  }

  Certainty judge(NodeId object, uint32_t place, const Check& check, Subject& subject) {
    const MatchFilters& filters = filters_[check.guard];
    Certainty certainty = check.certainty;
    if (builder_.family(object) == Family::name_space && filters.looks_at_namespaces())
      certainty = std::min(certainty, filters.by_namespace(builder_.namespace_labels(builder_.key(object).name)));
    if (certainty == Certainty::never) return certainty;
    if (filters.looks_at_labels()) {
      if (!fits_labels(object, filters, check.by_pods)) return Certainty::never;
      // The labels that the cluster adds are not known.
      certainty = Certainty::maybe;
    }
    if (!filters.looks_at_objects()) return certainty;
    if (!subject.is_made) make_subject(subject, object, place, check.by_pods);
    const GuardMatcher& matcher = matchers_[check.guard];
    Certainty exact = matcher.webhook != nullptr
                          ? admission::could_match(*matcher.webhook, subject.prospect)
                          : admission::could_match(*matcher.policy, *matcher.binding, subject.prospect);
    return std::min(certainty, exact);
  }

  bool fits_labels(NodeId object, const MatchFilters& filters, bool by_pods) const {
    if (by_pods) {
      const Json* pod = find_pod(builder_.family(object), builder_.value(object));
      return pod != nullptr && filters.by_labels((*pod)["metadata"]["labels"]);
    }
    if (filters.by_labels(builder_.labels(object))) return true;
    const Json* live = builder_.cluster.find_live ? builder_.cluster.find_live(builder_.key(object)) : nullptr;
    return live != nullptr && filters.by_labels((*live)["metadata"]["labels"]);
  }

  void make_subject(Subject& subject, NodeId object, uint32_t place, bool by_pods) {
    admission::Prospect& prospect = subject.prospect;
    const Kind& kind = builder_.kinds[by_pods ? pod_ : builder_.kind_of[object]];
    prospect.resource = kind.resource;
    prospect.kind = kind.kind;
    prospect.equivalents = kind.equivalents;
    prospect.ns = kind.family == Family::name_space ? builder_.key(object).name : builder_.key(object).ns;
    if (place != kNone) prospect.ns_labels = places_[place].labels;
    if (by_pods) {
      const Json* pod = find_pod(builder_.family(object), builder_.value(object));
      if (pod != nullptr) prospect.object = *pod;
      prospect.object.make("apiVersion") = "v1";
      prospect.object.make("kind") = "Pod";
      prospect.may_update = false;
    } else {
      prospect.object = builder_.value(object);
    }
    if (!prospect.ns.empty() && kind.namespaced) prospect.object.make("metadata").make("namespace") = prospect.ns;
    subject.is_made = true;
  }

  Certainty fits(uint32_t place, GuardId guard) {
    if (!filters_[guard].looks_at_namespaces()) return Certainty::certainly;
    std::optional<Certainty>& known = places_[place].fits[guard];
    if (!known) known = filters_[guard].by_namespace(places_[place].labels);
    return *known;
  }

  uint32_t place_of(std::string_view ns) {
    auto [entry, is_new] = place_numbers_.try_emplace(ns, static_cast<uint32_t>(places_.size()));
    if (is_new)
      places_.push_back({.labels = builder_.namespace_labels(ns),
                         .fits = plan::IdVector<GuardId, std::optional<Certainty>>(filters_.size())});
    return entry->second;
  }

  // Returns the number of the set with these matches. If a guard matches an object both itself and by its pods, the two
  // matches are merged.
  uint32_t intern(std::vector<GuardMatch> matches) {
    std::ranges::sort(matches, {}, [](const GuardMatch& m) { return std::pair(m.guard, m.by_pods); });
    std::vector<GuardMatch> merged;
    for (const GuardMatch& match : matches) {
      if (!merged.empty() && merged.back().guard == match.guard) {
        merged.back().certainty = std::max(merged.back().certainty, match.certainty);
        merged.back().by_pods &= match.by_pods;
      } else {
        merged.push_back(match);
      }
    }
    return builder_.sets.add(merged);
  }

  GraphBuilder& builder_;
  const plan::IdVector<GuardId, GuardMatcher>& matchers_;
  plan::IdVector<GuardId, MatchFilters> filters_;
  uint32_t pod_ = 0;
  std::vector<std::optional<std::vector<Candidate>>> candidates_;      // by kind
  std::vector<std::optional<std::vector<Candidate>>> pod_candidates_;  // by kind
  std::unordered_map<std::string_view, uint32_t> place_numbers_;
  std::vector<Place> places_;
  std::unordered_map<uint64_t, Group> groups_;
};

}  // namespace

void find_guard_matches(GraphBuilder& builder, const plan::IdVector<GuardId, GuardMatcher>& matchers) {
  GuardMatches(builder, matchers).run();
}

}  // namespace fairlead::graph
