#include "base/timestamp.h"

#include <fmt/format.h>

#include <charconv>

namespace fairlead {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // Exactly so many digits.
  int number(size_t digits) {
    if (text_.size() < digits) return fail();
    int value = 0;
    for (char c : text_.substr(0, digits)) {
      if (c < '0' || c > '9') return fail();
      value = value * 10 + (c - '0');
    }
    text_.remove_prefix(digits);
    return value;
  }
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  Duration fraction() {
    int64_t nanoseconds = 0;
    int64_t unit = 100'000'000;
    if (!take('.')) return Duration(0);
    if (text_.empty() || text_.front() < '0' || text_.front() > '9') fail();
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') {
      nanoseconds += (text_.front() - '0') * unit;
      unit /= 10;
      text_.remove_prefix(1);
    }
    return Duration(nanoseconds);
  }
  bool at_end() const { return text_.empty() && !failed_; }

 private:
  int fail() {
    failed_ = true;
    return 0;
  }
  std::string_view text_;
  bool failed_ = false;
};

}  // namespace

std::optional<WallTime> parse_timestamp(std::string_view text) {
  using namespace std::chrono;
  if (text.size() > 64) return std::nullopt;
  Reader reader(text);
  int year_number = reader.number(4);
  reader.expect('-');
  int month_number = reader.number(2);
  reader.expect('-');
  int day_number = reader.number(2);
  if (!reader.take('t')) reader.expect('T');
  int hour = reader.number(2);
  reader.expect(':');
  int minute = reader.number(2);
  reader.expect(':');
  int second = reader.number(2);
  Duration fraction = reader.fraction();
  minutes offset{0};
  if (!reader.take('Z') && !reader.take('z')) {
    bool west = reader.take('-');
    if (!west) reader.expect('+');
    int offset_hours = reader.number(2);
    reader.expect(':');
    int offset_minutes = reader.number(2);
    if (offset_hours > 23 || offset_minutes > 59) return std::nullopt;
    offset = minutes((west ? -1 : 1) * (offset_hours * 60 + offset_minutes));
  }
  year_month_day date{year(year_number), month(static_cast<unsigned>(month_number)),
                      day(static_cast<unsigned>(day_number))};
  // WallTime counts nanoseconds, and so ends in the year 2262.
  bool in_range = year_number >= 1700 && year_number <= 2260;
  if (!reader.at_end() || !date.ok() || !in_range || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return WallTime(sys_days(date)) + hours(hour) + minutes(minute) + seconds(second) + fraction - offset;
}

std::optional<WallTime> parse_http_date(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  size_t month = kMonths.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  return parse_timestamp(
      fmt::format("{}-{:02}-{}T{}Z", text.substr(12, 4), month / 3 + 1, text.substr(5, 2), text.substr(17, 8)));
}

std::string dump_micro_time(WallTime time) {
  auto micros = std::chrono::floor<std::chrono::microseconds>(time);
  auto days = std::chrono::floor<std::chrono::days>(micros);
  std::chrono::year_month_day date(days);
  std::chrono::hh_mm_ss clock(micros - days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()), clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace fairlead
