// get, list and watch.
#pragma once

#include "sandbox/core/call.h"
#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

Task<Outcome<Reply>> get_object(ApiServer& server, Call& call, const Kind& kind);
Task<Outcome<Reply>> list_objects(ApiServer& server, Call& call, const Kind& kind);
Task<Outcome<Reply>> watch_objects(ApiServer& server, Call& call, const Kind& kind);

// The form in which the client wants objects.
enum class Form { object, table, partial };
// `streams`: whether a refusal names the forms of watches, too.
Outcome<Form> negotiate(std::string_view accept, bool streams);
// The same; a kind that there are no cells for comes as it is, as from a server that knows no tables.
Outcome<Form> form_for(const Kind& kind, const Call& call, bool streams);

// An object as the request's version and form have it; converted by webhook where the CRD says so.
Task<Outcome<Json>> in_version(ApiServer& server, const Kind& kind, const Json& stored);

// What a write says of a stored object that in_version() could not convert. Other refusals stay as they are.
Status undecodable(const Json& stored, Status why);

// The same as in_version(), refused in the words of a read.
Task<Outcome<Json>> read_stored(ApiServer& server, const Kind& kind, const Json& stored);
Json partial_metadata(const Json& object);

// Which parameters of a list or watch go together.
Outcome<void> check_list_options(const Query& query);

// What resourceVersion stands for: nothing given, or a number that is not ahead of us.
Outcome<std::optional<uint64_t>> requested_version(const Core& core, std::string_view text);

}  // namespace fairlead::sandbox
