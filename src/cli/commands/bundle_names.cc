#include "cli/commands/bundle_names.h"

#include <fcntl.h>
#include <unistd.h>

#include "async/scope.h"
#include "cli/core/connect.h"
#include "cli/core/parser.h"
#include "status/bundles.h"

namespace fairlead::cli {
namespace {

constexpr Duration kPatience = std::chrono::seconds(1);

Globals globals_of(std::span<const std::string> words) {
  Globals globals;
  Parser parser;
  parser.pass_over_unknown_words();
  add_globals(parser.root(), globals);
  // The word that is being typed may be a flag without its value.
  (void)parser.parse({words.begin(), words.end()});
  return globals;
}

// A credential plugin must not ask the user for anything in the middle of a command line.
void close_input() {
  int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) (void)::dup2(nothing, STDIN_FILENO);
}

Task<std::vector<std::string>> read_names(RealLoop& loop, const Globals& globals) {
  journal::Journal journal(loop.clock());
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, globals, journal);
  if (!cluster) co_return std::vector<std::string>();
  Result<std::vector<std::string>> names = co_await with_deadline(
      loop, loop.now() + kPatience, "no answer in time",
      status::read_names((*cluster)->client(), (*cluster)->discovery(), (*cluster)->default_namespace()));
  co_await (*cluster)->close();
  co_return names ? *std::move(names) : std::vector<std::string>();
}

}  // namespace

std::vector<std::string> bundle_names(std::span<const std::string> words) {
  close_input();
  RealLoop loop;
  Globals globals = globals_of(words);
  return loop.run(read_names(loop, globals));
}

}  // namespace fairlead::cli
