#include <unordered_set>

#include "kube/client.h"
#include "kube/query.h"

namespace fairlead::kube {
namespace {

// Far beyond any cluster: a server that never comes to an end.
constexpr size_t kMaxItems = 5'000'000;
constexpr size_t kMaxPages = 100'000;

constexpr std::string_view kMetadataOfList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

}  // namespace

Task<Outcome<List>> Client::list(const object::Resource& resource, ListOptions options) {
  Result<std::string> path = resource.list_path(options.ns);
  if (!path) {
    auto failed = [](Error error) -> Task<Outcome<List>> { co_return std::unexpected(Failure(std::move(error))); };
    return failed(std::move(path).error());
  }
  return list_pages(*std::move(path), resource.api_version(), resource.kind, std::move(options));
}

Task<Outcome<List>> Client::list_pages(std::string path, std::string api_version, std::string kind,
                                       ListOptions options) {
  List result;
  std::string continue_token;
  std::unordered_set<std::string> tokens;
  size_t limit = options.page;
  size_t bytes = 0;
  for (size_t page = 0; page < kMaxPages; ++page) {
    Query query;
    query.add("labelSelector", options.label_selector).add("fieldSelector", options.field_selector);
    query.add_if(limit > 0, "limit", std::to_string(limit)).add("continue", continue_token);
    query.add_if(continue_token.empty(), "resourceVersion", options.resource_version);
    Outcome<Reply> reply =
        co_await request({.verb = "list",
                          .target = query.behind(path),
                          .accept = std::string(options.metadata_only ? kMetadataOfList : "application/json")});
    if (!reply) {
      if (continue_token.empty() || !reply.error().is(FaultKind::expired))
        co_return std::unexpected(std::move(reply).error());
      // The snapshot that the pages are from is gone, and would be gone again: all at once cannot expire.
      result = {};
      continue_token.clear();
      bytes = 0;
      limit = 0;
      continue;
    }
    if (bytes += reply->size; bytes > kMaxAnswer)
      co_return std::unexpected(
          Failure(Error(ErrorKind::limit, fmt::format("GET {} has more than {} MiB", path, kMaxAnswer >> 20))));
    Json::Array* items = reply->value.make("items").if_array();
    const Json& metadata = reply->value["metadata"];
    if (!items && !reply->value["items"].is_null())
      co_return std::unexpected(
          Failure(Error(ErrorKind::protocol, fmt::format("the answer to GET {} is not a list", path))));
    if (items) {
      if (result.items.size() + items->size() > kMaxItems)
        co_return std::unexpected(
            Failure(Error(ErrorKind::limit, fmt::format("GET {} has more than {} items", path, kMaxItems))));
      for (Json& item : *items) {
        if (!item.is_object()) continue;
        // Servers leave these out in lists, and say PartialObjectMetadata where that was asked for.
        if (!item.contains("kind") || options.metadata_only) item.make("kind") = kind;
        if (!item.contains("apiVersion") || options.metadata_only) item.make("apiVersion") = api_version;
        result.items.push_back(std::move(item));
      }
    }
    if (result.warnings.empty()) result.warnings = std::move(reply->warnings);
    result.resource_version = metadata["resourceVersion"].string_or("");
    continue_token = metadata["continue"].string_or("");
    if (continue_token.empty()) co_return result;
    if (!tokens.insert(continue_token).second)
      co_return std::unexpected(Failure(Error(
          ErrorKind::protocol, fmt::format("GET {} does not end: a page refers to one that was read before", path))));
  }
  co_return std::unexpected(
      Failure(Error(ErrorKind::limit, fmt::format("GET {} has more than {} pages", path, kMaxPages))));
}

}  // namespace fairlead::kube
