#include "sandbox/core/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "admission/warnings.h"
#include "schema/apply.h"

namespace fairlead::sandbox {
void Call::warn(std::string text) {
  if (std::find(warnings.begin(), warnings.end(), text) == warnings.end()) warnings.push_back(std::move(text));
}

std::string Call::manager() const { return schema::manager_name(route.query.get("fieldManager"), user_agent); }

Reply Reply::of(Json value, int status) {
  Reply reply;
  reply.status = status;
  reply.value = std::move(value);
  return reply;
}

Reply Reply::plain(std::string text, int status) {
  Reply reply;
  reply.status = status;
  reply.text = std::move(text);
  reply.content_type = "text/plain; charset=utf-8";
  return reply;
}

Reply Reply::refused(const Status& status) {
  Reply reply = status.plain_text ? plain(status.message, status.code) : of(status.to_json(), status.code);
  // A webhook that refuses a request may say it in the details.
  int64_t retry_after = status.retry_after > 0 ? status.retry_after : status.details["retryAfterSeconds"].int_or(0);
  if (retry_after > 0) reply.headers.add("Retry-After", std::to_string(retry_after));
  return reply;
}

http::Answer to_answer(Reply reply, const std::vector<std::string>& warnings) {
  http::Answer answer;
  answer.status = reply.status;
  answer.headers = std::move(reply.headers);
  answer.headers.add("Content-Type", reply.content_type);
  admission::Warnings cut;
  for (const std::string& warning : warnings) cut.add(warning);
  for (const std::string& warning : cut.texts()) answer.headers.add("Warning", admission::Warnings::header(warning));
  if (reply.stream) {
    answer.body = std::move(reply.stream);
    return answer;
  }
  std::string text = std::move(reply.text);
  if (text.empty() && !reply.value.is_null()) {
    reply.value.append_to(text);
    text += '\n';
  }
  answer.body = http::body_of(std::move(text));
  return answer;
}

}  // namespace fairlead::sandbox
