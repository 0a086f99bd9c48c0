#include "http/server/internal/server_answer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iterator>

namespace fairlead::http {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "";
  }
}

bool is_servers_own(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOwn{"connection", "content-length", "transfer-encoding", "keep-alive",
                                                 "date"};
  return std::ranges::any_of(kOwn, [&](std::string_view own) { return same_name(own, name); });
}

bool is_token(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kMarks.find(c) != kMarks.npos;
  });
}

bool stays_in_its_line(std::string_view value) {
  return std::ranges::all_of(value,
                             [](char c) { return c == '\t' || (c != 0x7f && static_cast<unsigned char>(c) >= 0x20); });
}

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

Framing framing_of(int status, bool http_1_0, std::optional<uint64_t> length) {
  if (has_no_body(status)) return {Framing::Kind::none};
  if (length) return {Framing::Kind::length, *length};
  return {http_1_0 ? Framing::Kind::until_close : Framing::Kind::chunked};
}

std::optional<uint64_t> promised_length(const Headers& headers) {
  std::optional<std::string_view> text = headers.find("content-length");
  if (!text) return std::nullopt;
  uint64_t length = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), length);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return length;
}

void append_head(std::string& out, int status, const Headers& headers, Framing framing, std::string_view connection,
                 std::string_view date) {
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\nDate: {}\r\n", status, reason_of(status), date);
  for (const auto& [name, value] : headers) {
    if (is_servers_own(name) || !is_token(name) || !stays_in_its_line(value)) continue;
    out.append(name).append(": ").append(value).append("\r\n");
  }
  if (!connection.empty()) out.append("Connection: ").append(connection).append("\r\n");
  if (framing.kind == Framing::Kind::length)
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", framing.length);
  if (framing.kind == Framing::Kind::chunked) out.append("Transfer-Encoding: chunked\r\n");
  out.append("\r\n");
}

void append_piece(std::string& out, Framing framing, std::string_view piece) {
  if (framing.kind != Framing::Kind::chunked) {
    out.append(piece);
    return;
  }
  // An empty chunk would be the end.
  if (piece.empty()) return;
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", piece.size());
  out.append(piece).append("\r\n");
}

void append_end(std::string& out, Framing framing) {
  if (framing.kind == Framing::Kind::chunked) out.append("0\r\n\r\n");
}

std::string date_header(int64_t seconds_since_1970) {
  constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::chrono::sys_seconds time{std::chrono::seconds(seconds_since_1970)};
  auto day = std::chrono::floor<std::chrono::days>(time);
  std::chrono::year_month_day date(day);
  std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[std::chrono::weekday(day).c_encoding()],
                     unsigned(date.day()), kMonths[unsigned(date.month()) - 1], int(date.year()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

}  // namespace fairlead::http
