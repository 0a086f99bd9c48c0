#include "pipeline/events.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fairlead::pipeline {
namespace {

std::unexpected<Error> cannot_write_events(const std::string& path, int number) {
  return fail(Error(ErrorKind::invalid, fmt::format("the events file {} cannot be written", path))
                  .because(std::strerror(number))
                  .next("--events FILE keeps it elsewhere"));
}

std::string usual_name(Action action, bool is_step) {
  std::string name = is_step ? "step_" : "phase_";
  return name + (action == Action::timed_out ? "timed_out" : std::string(name_of(action)));
}

// A run that was killed may have left half a line.
bool ends_in_a_line(int descriptor) {
  struct stat status{};
  char last = '\n';
  if (::fstat(descriptor, &status) != 0 || status.st_size == 0) return true;
  return ::pread(descriptor, &last, 1, status.st_size - 1) != 1 || last == '\n';
}

}  // namespace

std::string event_name(const EventNames& names, Action action, bool is_step) {
  auto found = names.find(action);
  if (found == names.end() && action == Action::timed_out) found = names.find(Action::failed);
  return found == names.end() ? usual_name(action, is_step) : found->second;
}

Json to_json(const Event& event) {
  Json json(Json::Object{{"time", event.time}, {"phase", event.phase}});
  if (!event.step.empty()) json.make("step") = event.step;
  json.make("action") = event.name;
  json.make("kind") = name_of(event.action);
  json.make("message") = event.message;
  return json;
}

Result<std::unique_ptr<EventFile>> EventFile::open(std::string path) {
  int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) return cannot_write_events(path, errno);
  std::unique_ptr<EventFile> file(new EventFile(std::move(path), descriptor));
  if (!ends_in_a_line(descriptor) && ::write(descriptor, "\n", 1) != 1) return cannot_write_events(file->path_, errno);
  return file;
}

EventFile::~EventFile() { ::close(descriptor_); }

Result<void> EventFile::add(const Event& event) {
  std::string line = to_json(event).dump() + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    ssize_t size = ::write(descriptor_, rest.data(), rest.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return cannot_write_events(path_, errno);
    rest.remove_prefix(size_t(size));
  }
  return {};
}

}  // namespace fairlead::pipeline
