#include "removal/internal/journal_details.h"

#include "journal/ending_details.h"
#include "journal/graph_details.h"

namespace fairlead::removal {
namespace {

using State = ObjectEnding::State;

// True if no other event says what became of the object.
bool is_silent(State state) {
  return state == State::absent || state == State::kept || state == State::blocked || state == State::not_begun;
}

}  // namespace

Json graph_details(const Run& run) {
  journal::GraphDetails details(run.secrets());
  for (const Target& target : run.targets()) details.add_object(target.key, target.source);
  for (const std::string& group : run.order().groups) details.add_other("group", group);
  for (const Edge& edge : run.order().edges)
    details.add_need(edge.later, edge.sooner, journal::NeedLevel::deleted, edge.reason);
  return std::move(details).json();
}

Json ending_details(const Ending& ending, const Secrets& secrets) {
  journal::EndingDetails details(secrets);
  details.set_requests(ending.requests);
  for (const Cause& cause : ending.causes) details.add_error(cause);
  for (const ObjectEnding& object : ending.objects)
    if (is_silent(object.state)) details.add_outcome(object.key, name_of(object.state));
  return std::move(details).json();
}

}  // namespace fairlead::removal
