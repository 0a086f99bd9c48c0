#include "sandbox/verbs/internal/pod_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace fairlead::sandbox {
namespace {

std::vector<std::string> names_in(const Json& containers) {
  std::vector<std::string> names;
  for (const Json& container : containers.items()) names.emplace_back(container["name"].string_or(""));
  return names;
}

Outcome<std::string> choose_container(const Json& pod, std::string_view pod_name, std::string_view wanted) {
  std::vector<std::string> names = names_in(pod["spec"]["containers"]);
  std::vector<std::string> init = names_in(pod["spec"]["initContainers"]);
  if (wanted.empty() && names.size() == 1 && init.empty()) return names.front();
  if (wanted.empty()) {
    std::string text = fmt::format("a container name must be specified for pod {}, choose one of: [{}]", pod_name,
                                   fmt::join(names, " "));
    if (!init.empty()) text += fmt::format(" or one of the init containers: [{}]", fmt::join(init, " "));
    return refuse(bad_request(std::move(text)));
  }
  bool is_known = std::ranges::find(names, wanted) != names.end() || std::ranges::find(init, wanted) != init.end();
  if (!is_known) return refuse(bad_request(fmt::format("container {} is not valid for pod {}", wanted, pod_name)));
  return std::string(wanted);
}

const Json& status_of(const Json& pod, std::string_view container) {
  static const Json kNone;
  for (std::string_view list : {"containerStatuses", "initContainerStatuses"})
    for (const Json& status : pod["status"][list].items())
      if (status["name"].string_or("") == container) return status;
  return kNone;
}

std::string waiting_text(std::string_view reason) {
  if (reason == "ErrImagePull") return "image can't be pulled";
  if (reason == "ImagePullBackOff") return "trying and failing to pull image";
  return std::string(reason);
}

// Whether the kubelet has a log of that container, in the kubelet's words if not.
Outcome<void> check_log(const Json& status, std::string_view container, std::string_view pod, bool previous) {
  std::string it = fmt::format("container \"{}\" in pod \"{}\"", container, pod);
  if (status.is_null()) return refuse(bad_request(it + " is not available"));
  bool has_ended = status["lastState"]["terminated"].is_object();
  if (previous && !has_ended) return refuse(bad_request(fmt::format("previous terminated {} not found", it)));
  const Json& state = status["state"];
  if (previous || has_ended || state["running"].is_object() || state["terminated"].is_object()) return {};
  if (state["waiting"].is_object())
    return refuse(bad_request(
        fmt::format("{} is waiting to start: {}", it, waiting_text(state["waiting"]["reason"].string_or("")))));
  return refuse(bad_request(it + " is waiting to start - no logs yet"));
}

std::optional<size_t> number(const Query& query, std::string_view name) {
  std::string_view text = query.get(name);
  size_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string shortened(std::string text, const Query& query) {
  if (std::optional<size_t> lines = number(query, "tailLines")) {
    size_t begin = text.size();
    for (size_t found = 0; begin > 0; --begin)
      if (text[begin - 1] == '\n' && begin != text.size() && ++found == *lines) break;
    text = *lines == 0 ? "" : text.substr(begin);
  }
  if (std::optional<size_t> bytes = number(query, "limitBytes")) text = text.substr(0, *bytes);
  return text;
}

// What the container has written, and nothing more until it ends.
class LogStream final : public http::Body {
 public:
  LogStream(ApiServer& server, const Kind& kind, Place place, std::string container, std::string text)
      : server_(server),
        resource_(kind.stored_as),
        place_(std::move(place)),
        container_(std::move(container)),
        text_(std::move(text)) {}

  Task<Result<std::optional<std::string>>> read() override {
    if (!text_.empty()) co_return std::exchange(text_, std::string());
    Store& store = server_.core().store;
    while (server_.generation() == generation_) {
      ObjectPtr pod = store.find(resource_, place_);
      if (!pod || !status_of(*pod, container_)["state"]["running"].is_object()) break;
      CO_TRY(co_await store.changed(resource_).wait());
    }
    co_return std::nullopt;
  }

 private:
  ApiServer& server_;
  ResourceId resource_;
  Place place_;
  std::string container_;
  std::string text_;
  uint64_t generation_ = server_.generation();
};

}  // namespace

Task<Outcome<Reply>> get_log(ApiServer& server, Call& call, const Kind& kind) {
  const Query& query = call.route.query;
  for (std::string_view unknown : {"sinceSeconds", "sinceTime", "timestamps", "stream"})
    if (query.has(unknown)) co_return refuse(not_implemented(fmt::format("{} of pods/log", unknown)));
  Place place{call.route.ns, call.route.name};
  ObjectPtr pod = server.core().store.find(kind.stored_as, place);
  if (!pod) co_return refuse(not_found(kind.id(), place.name));
  CO_TRY_ASSIGN(std::string container, choose_container(*pod, place.name, query.get("container")));
  // A pod that is on no node has an empty log.
  if ((*pod)["spec"]["nodeName"].string_or("").empty()) co_return Reply::plain("");
  CO_TRY(check_log(status_of(*pod, container), container, place.name, query.flag("previous")));
  std::string text((*pod)["metadata"]["annotations"]["sandbox.fairlead.dev/logs"].string_or(""));
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text = shortened(std::move(text), query);
  if (!query.flag("follow")) co_return Reply::plain(std::move(text));
  Reply reply = Reply::plain("");
  reply.stream = std::make_unique<LogStream>(server, kind, std::move(place), std::move(container), std::move(text));
  co_return reply;
}

}  // namespace fairlead::sandbox
