#include "webhook/install/install.h"

#include "base/printable.h"
#include "object/name.h"
#include "webhook/install/internal/objects.h"

namespace fairlead::webhook::install {
namespace {

// As Helm has it; the names of objects are made of it.
constexpr size_t kLongestRelease = 53;

Result<void> check_release(const Release& release) {
  bool is_label = !release.name.contains('.') && object::check_namespace(release.name).has_value();
  if (!is_label || release.name.size() > kLongestRelease)
    return fail(Error(ErrorKind::invalid, fmt::format("\"{}\" cannot be the name of a release",
                                                      printable_line(release.name.substr(0, 100))))
                    .next("a name has at most 53 lower-case letters, digits and '-', and begins and ends with no '-'"));
  TRY(object::check_namespace(release.ns));
  return {};
}

}  // namespace

std::expected<Manifests, std::vector<Error>> manifests(const Release& release, const Inputs& inputs,
                                                       const Options& options) {
  if (Result<void> checked = check_release(release); !checked) return std::unexpected(std::vector{checked.error()});
  auto values = Values::read(inputs);
  if (!values) return std::unexpected(std::move(values.error()));
  auto settings = settings_of(release, *values);
  if (!settings) return std::unexpected(std::move(settings.error()));
  Manifests made{.warnings = values->warnings()};
  std::ranges::copy(settings->warnings, std::back_inserter(made.warnings));
  auto add = [&](Objects objects) { std::ranges::move(objects, std::back_inserter(made.objects)); };
  if (!options.skip_definitions) add(definitions());
  add(access(*settings));
  add(certificates(*settings));
  add(workload(*settings));
  add(configuration(*settings));
  add(hooks(*settings));
  return made;
}

}  // namespace fairlead::webhook::install
