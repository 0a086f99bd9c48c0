#include "webhook/server/metrics.h"

#include <fmt/format.h>

#include <iterator>

namespace fairlead::webhook {
namespace {

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

void gauge(std::string& out, std::string_view name, std::string_view help, double value) {
  head(out, name, "gauge", help);
  fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

}  // namespace

void Metrics::count(std::string_view path, Decided decided, Duration took) {
  std::lock_guard lock(mutex_);
  auto found = paths_.find(path);
  if (found == paths_.end()) found = paths_.emplace(std::string(path), PerPath{}).first;
  PerPath& counts = found->second;
  ++counts.decided[static_cast<size_t>(decided)];
  double seconds = seconds_of(took);
  counts.seconds += seconds;
  size_t bucket = 0;
  while (bucket < kBuckets.size() && seconds > kBuckets[bucket]) ++bucket;
  ++counts.buckets[bucket];
}

void Metrics::count_unknown_path() {
  std::lock_guard lock(mutex_);
  ++unknown_paths_;
}

void Metrics::count_refused(int status) {
  std::lock_guard lock(mutex_);
  ++refused_[status];
}

uint64_t Metrics::decisions(std::string_view path, Decided decided) const {
  std::lock_guard lock(mutex_);
  auto found = paths_.find(path);
  return found == paths_.end() ? 0 : found->second.decided[static_cast<size_t>(decided)];
}

std::string Metrics::text() const {
  std::lock_guard lock(mutex_);
  std::string out;
  auto add = std::back_inserter(out);
  constexpr std::string_view kReviews = "fairlead_webhook_reviews_total";
  head(out, kReviews, "counter", "Reviews by path and decision.");
  for (const auto& [path, counts] : paths_)
    for (size_t i = 0; i < kDecidedCount; ++i)
      fmt::format_to(add, "{}{{path=\"{}\",decision=\"{}\"}} {}\n", kReviews, path, name_of(static_cast<Decided>(i)),
                     counts.decided[i]);
  constexpr std::string_view kSeconds = "fairlead_webhook_review_duration_seconds";
  head(out, kSeconds, "histogram", "Time from a whole request to its answer.");
  for (const auto& [path, counts] : paths_) {
    uint64_t sum = 0;
    for (size_t i = 0; i < kBuckets.size(); ++i)
      fmt::format_to(add, "{}_bucket{{path=\"{}\",le=\"{}\"}} {}\n", kSeconds, path, kBuckets[i],
                     sum += counts.buckets[i]);
    sum += counts.buckets.back();
    fmt::format_to(add,
                   "{0}_bucket{{path=\"{1}\",le=\"+Inf\"}} {2}\n{0}_sum{{path=\"{1}\"}} {3}\n"
                   "{0}_count{{path=\"{1}\"}} {2}\n",
                   kSeconds, path, sum, counts.seconds);
  }
  head(out, "fairlead_webhook_unknown_paths_total", "counter", "Requests for a path that is not served.");
  fmt::format_to(add, "fairlead_webhook_unknown_paths_total {}\n", unknown_paths_);
  head(out, "fairlead_webhook_refused_total", "counter", "Requests that were refused as no reviews, by status.");
  for (const auto& [status, count] : refused_)
    fmt::format_to(add, "fairlead_webhook_refused_total{{status=\"{}\"}} {}\n",
                   status == 0 ? "handshake" : fmt::to_string(status), count);
  gauge(out, "fairlead_webhook_reviews_in_flight", "Reviews that are being decided on.", double(in_flight));
  head(out, "fairlead_webhook_certificate_reloads_total", "counter", "Certificates that were taken up, by result.");
  fmt::format_to(add, "fairlead_webhook_certificate_reloads_total{{result=\"success\"}} {}\n", reloads_);
  fmt::format_to(add, "fairlead_webhook_certificate_reloads_total{{result=\"failure\"}} {}\n", failed_reloads_);
  gauge(out, "fairlead_webhook_certificate_kept",
        "1 while what is stored cannot be used, and an earlier one is served.", keeps_earlier_certificate ? 1 : 0);
  head(out, "fairlead_webhook_certificate_expiry_timestamp_seconds", "gauge",
       "When the served certificate and its authority expire.");
  for (auto [name, expiry] : {std::pair("leaf", leaf_expiry), std::pair("ca", ca_expiry)})
    if (expiry)
      fmt::format_to(add, "fairlead_webhook_certificate_expiry_timestamp_seconds{{certificate=\"{}\"}} {}\n", name,
                     std::chrono::floor<std::chrono::seconds>(*expiry).time_since_epoch().count());
  gauge(out, "fairlead_webhook_ready", "1 if /readyz answers 200.", ready && !draining ? 1 : 0);
  gauge(out, "fairlead_webhook_draining", "1 once the server was asked to stop.", draining ? 1 : 0);
  return out;
}

std::string text_of(const Coordination& coordination) {
  std::string out;
  if (coordination.lease_held)
    gauge(out, "fairlead_webhook_lease_held", "1 while this server holds the Lease of its namespace.",
          *coordination.lease_held ? 1 : 0);
  if (coordination.namespaces_left)
    gauge(out, "fairlead_webhook_namespaces_left", "Namespaces that are left to an operator of their own.",
          double(*coordination.namespaces_left));
  if (coordination.view_stale)
    gauge(out, "fairlead_webhook_lease_view_stale", "1 while it is not known which namespaces have their own operator.",
          *coordination.view_stale ? 1 : 0);
  return out;
}

}  // namespace fairlead::webhook
