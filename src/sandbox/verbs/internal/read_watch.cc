#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sandbox/verbs/internal/read.h"
#include "sandbox/verbs/internal/selection.h"
#include "sandbox/verbs/internal/table.h"
#include "schema/defaults/stored.h"

namespace fairlead::sandbox {
namespace {

// Sends events from its place in the history of a resource, as fast as it is read.
class WatchStream final : public http::Body {
 public:
  WatchStream(ApiServer& server, const Kind& kind, Selection selection, Form form, const Query& query, uint64_t from)
      : server_(server),
        store_(server.core().store),
        kind_(kind),
        selection_(std::move(selection)),
        form_(form),
        include_(query.get("includeObject")),
        bookmarks_(query.flag("allowWatchBookmarks")),
        cursor_(from),
        ends_(server.core().loop.now() + timeout(server.core(), query)) {
    bookmark_at_ = server.core().loop.now() + server.core().options.bookmark_every;
  }

  void start_with(std::vector<ObjectPtr> objects, bool mark_their_end) {
    initial_ = std::move(objects);
    mark_initial_end_ = mark_their_end;
  }
  void start_with_error(const Status& status) {
    append_line("ERROR", status.to_json());
    ended_ = true;
  }

  Task<Result<std::optional<std::string>>> read() override {
    if (!initial_.empty() || mark_initial_end_) co_await send_initial();
    Loop& loop = server_.core().loop;
    while (pending_.empty() && !ended_) {
      if (loop.now() >= ends_ || server_.generation() != generation_) {
        ended_ = true;
        break;
      }
      if (cursor_ < store_.compacted() && cursor_ < store_.version()) {
        // It read too slowly: the real server lets go of such a watch, without a word.
        ended_ = true;
        break;
      }
      if (const Event* next = store_.next_after(kind_.stored_as, cursor_)) {
        Event event = *next;
        cursor_ = event.version;
        co_await send(event);
        continue;
      }
      cursor_ = std::max(cursor_, store_.version());
      if (bookmarks_ && loop.now() >= bookmark_at_) {
        bookmark_at_ = loop.now() + server_.core().options.bookmark_every;
        send_bookmark(false);
        continue;
      }
      TimePoint wake = bookmarks_ ? std::min(bookmark_at_, ends_) : ends_;
      // Whoever waits for the resource looks at its condition again: a wake-up for nothing does no harm.
      Signal& changed = store_.changed(kind_.stored_as);
      Loop::TimerId timer = loop.call_at(wake, [&changed] { changed.notify_all(); });
      Result<void> waited = co_await changed.wait();
      loop.cancel_timer(timer);
      if (!waited) co_return fail(waited.error());
    }
    if (pending_.empty()) co_return std::nullopt;
    co_return std::exchange(pending_, std::string());
  }

 private:
  static Duration timeout(const Core& core, const Query& query) {
    std::string_view text = query.get("timeoutSeconds");
    int64_t seconds = 0;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    return seconds > 0 ? Duration(std::chrono::seconds(seconds)) : core.options.watch_timeout;
  }

  Task<void> send_initial() {
    std::vector<ObjectPtr> objects = std::exchange(initial_, {});
    for (const ObjectPtr& object : objects) co_await send_object("ADDED", *object);
    if (std::exchange(mark_initial_end_, false)) send_bookmark(true);
  }

  Task<void> send(const Event& event) {
    bool was = event.previous && selection_.matches(event.place, *event.previous);
    bool is = event.type != Event::Type::deleted && selection_.matches(event.place, *event.object);
    if (is) {
      co_await send_object(was ? "MODIFIED" : "ADDED", *event.object);
    } else if (was) {
      // As it was when it still belonged here, with the version of the change that took it away.
      Json last = *event.previous;
      last.make("metadata").make("resourceVersion") = std::to_string(event.version);
      co_await send_object("DELETED", last);
    }
  }

  Task<void> send_object(std::string_view type, const Json& stored) {
    Outcome<Json> object = co_await in_version(server_, kind_, stored);
    if (!object) {
      append_line("ERROR", object.error().to_json());
      ended_ = true;
      co_return;
    }
    if (form_ == Form::partial) {
      append_line(type, partial_metadata(*object));
    } else if (form_ == Form::table) {
      Json metadata = Json::Object{{"resourceVersion", (*object)["metadata"]["resourceVersion"]}};
      Json::Array objects{*std::move(object)};
      append_line(type, table_of(server_.core(), kind_, objects, std::move(metadata), include_,
                                 std::exchange(first_table_, false)));
    } else {
      append_line(type, *object);
    }
  }

  void send_bookmark(bool initial_end) {
    Json::Object metadata{{"resourceVersion", std::to_string(cursor_)}};
    if (initial_end) metadata.append("annotations", Json::Object{{"k8s.io/initial-events-end", "true"}});
    // A built-in object with nothing in it still shows what its type always shows.
    Json object = kind_.custom ? Json(Json::Object{{"kind", kind_.kind}, {"apiVersion", kind_.api_version()}})
                               : schema::empty_object(*kind_.builtin_schema(), kind_.api_version(), kind_.kind);
    object.make("metadata") = std::move(metadata);
    append_line("BOOKMARK", object);
  }

  void append_line(std::string_view type, const Json& object) {
    pending_ += fmt::format("{{\"type\":\"{}\",\"object\":", type);
    object.append_to(pending_);
    pending_ += "}\n";
  }

  ApiServer& server_;
  Store& store_;
  Kind kind_;  // a copy: a custom kind may go away meanwhile
  Selection selection_;
  Form form_;
  std::string include_;
  bool bookmarks_;
  uint64_t cursor_;
  TimePoint ends_;
  TimePoint bookmark_at_;
  uint64_t generation_ = server_.generation();
  std::vector<ObjectPtr> initial_;
  bool mark_initial_end_ = false;
  bool first_table_ = true;
  bool ended_ = false;
  std::string pending_;
};

}  // namespace

Task<Outcome<Reply>> watch_objects(ApiServer& server, Call& call, const Kind& kind) {
  const Query& query = call.route.query;
  const Core& core = server.core();
  CO_TRY_ASSIGN(Form form, form_for(kind, call, true));
  CO_TRY_ASSIGN(Selection selection, Selection::parse(kind, call.route));
  CO_TRY(check_list_options(query));

  std::string_view text = query.get("resourceVersion");
  uint64_t version = 0;
  // A version ahead of us is waited for, without an error.
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size()))
    co_return refuse(bare_error(fmt::format(
        "resourceVersion: Invalid value: \"{0}\": strconv.ParseUint: parsing \"{0}\": invalid syntax", text)));

  bool initial_wanted = query.flag("sendInitialEvents");
  bool initial_by_default = !query.has("sendInitialEvents") && version == 0;
  bool with_initial = initial_wanted || initial_by_default;
  uint64_t from = with_initial || version == 0 ? core.store.version() : version;
  auto stream = std::make_unique<WatchStream>(server, kind, selection, form, query, from);
  // What is known of a custom resource begins when it is first served.
  uint64_t oldest = std::max(core.store.compacted(), kind.served_from);
  if (!with_initial && version != 0 && version < oldest) {
    stream->start_with_error(expired(fmt::format("too old resource version: {} ({})", version, oldest)));
  } else if (with_initial) {
    std::vector<ObjectPtr> objects;
    for (const auto& [place, object] : core.store.all(kind.stored_as))
      if (selection.matches(place, *object)) objects.push_back(object);
    stream->start_with(std::move(objects), initial_wanted && query.flag("allowWatchBookmarks"));
  }
  Reply reply;
  reply.stream = std::move(stream);
  co_return reply;
}

}  // namespace fairlead::sandbox
