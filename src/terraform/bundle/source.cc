#include "terraform/bundle/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "async/real_loop.h"
#include "diff/digest.h"
#include "manifest/rendered.h"
#include "render/render.h"
#include "terraform/objects/attributes.h"

namespace fairlead::terraform {
namespace {

constexpr std::string_view kSources[] = {"yaml", "path", "kustomize", "chart"};

// A file that nobody else can read, and that is removed in the end.
class PrivateFile {
 public:
  static Result<PrivateFile> with(std::string_view content) {
    const char* folder = std::getenv("TMPDIR");
    PrivateFile file;
    file.path_ = fmt::format("{}/fairlead-values-XXXXXX", folder && *folder ? folder : "/tmp");
    int descriptor = ::mkostemp(file.path_.data(), O_CLOEXEC);
    if (descriptor < 0) {
      file.path_.clear();
      return fail(ErrorKind::unavailable, "the values of the chart cannot be written to a temporary file");
    }
    bool written = ::write(descriptor, content.data(), content.size()) == ssize_t(content.size());
    ::close(descriptor);
    if (!written) return fail(ErrorKind::unavailable, "the values of the chart cannot be written to {}", file.path_);
    return file;
  }
  PrivateFile(PrivateFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFile& operator=(PrivateFile&&) = delete;
  ~PrivateFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  PrivateFile() = default;
  std::string path_;
};

Task<Result<render::Rendered>> render_release(RealLoop& loop, Value chart, std::string name, std::string ns) {
  render::Chart release{.chart = std::string(chart["chart"].string_or("")),
                        .release = std::string(chart["release"].string_or(name)),
                        .flags = {}};
  auto flag = [&](std::string_view option, const Value& value) {
    if (const std::string* text = value.if_string())
      release.flags.insert(release.flags.end(), {std::string(option), *text});
  };
  flag("--version", chart["version"]);
  flag("--repo", chart["repository"]);
  std::vector<PrivateFile> files;
  for (const std::string& values : texts_in(chart["values"])) {
    CO_TRY_ASSIGN(PrivateFile file, PrivateFile::with(values));
    release.flags.insert(release.flags.end(), {"--values", file.path()});
    files.push_back(std::move(file));
  }
  for (const auto& [key, value] : chart["set"].members())
    release.flags.insert(release.flags.end(), {"--set", fmt::format("{}={}", key, value.string_or(""))});
  for (const std::string& text : texts_in(chart["flags"])) release.flags.push_back(text);
  co_return co_await render::render_chart(loop, std::move(release), {.ns = std::move(ns)});
}

}  // namespace

std::vector<Attribute> source_attributes() {
  Type texts = Type::list(Type::string());
  return {
      optional_attribute("yaml", Type::string(), "Manifests, as YAML or JSON documents."),
      optional_attribute("path", Type::string(), "A file, or a folder whose `*.yaml`, `*.yml` and `*.json` are read."),
      optional_attribute("kustomize", Type::string(), "A folder with a kustomization; needs kubectl or kustomize."),
      {.name = "chart",
       .nesting = Nesting::single,
       .nested = {{.name = "chart",
                   .required = true,
                   .description = "As helm takes it: a folder, an archive, a name with `repository`, or an address."},
                  optional_attribute("release", Type::string(), "The name of the release, `name` by default."),
                  optional_attribute("repository", Type::string(), "The address of the repository."),
                  optional_attribute("version", Type::string(), "The version of the chart."),
                  optional_attribute("values", texts, "Values, each as a YAML text; later ones win."),
                  optional_attribute("set", Type::map(Type::string()), "Single values, as `helm --set` has them."),
                  optional_attribute("flags", texts,
                                     "More flags for `helm template`, such as `--api-versions=example.com/v1`.")},
       .optional = true,
       .description = "A chart, rendered by helm, with its hooks. It is rendered without the cluster, so that plan and "
                      "apply render the same."}};
}

Diagnostics check_sources(const Value& config) {
  Diagnostics found;
  std::vector<std::string> set;
  for (std::string_view name : kSources)
    if (!config[name].is_null()) set.emplace_back(name);
  if (set.empty()) found.error("There are no manifests", "Set one of yaml, path, kustomize and chart.", "yaml");
  if (set.size() > 1)
    found.error("There are several sources of manifests",
                fmt::format("{} are set.\n  next      set one of them, and make another fairlead_bundle for the rest",
                            fmt::join(set, " and ")),
                Path(std::string_view(set[1])));
  return found;
}

bool has_known_sources(const Value& config) {
  for (std::string_view name : kSources)
    if (!config[name].is_wholly_known()) return false;
  return true;
}

bool may_read_differently(const Value& config) { return config["yaml"].is_null(); }

Task<SourceReading> read_sources(Context& context, Value config, std::string name, std::string ns) {
  SourceReading reading;
  std::vector<std::string> files;
  std::vector<manifest::Text> texts;
  Path path("yaml");
  if (const std::string* yaml = config["yaml"].if_string())
    texts.push_back({.origin = "yaml", .content = *yaml, .has_lines = true});
  if (const std::string* file = config["path"].if_string()) {
    path = Path("path");
    files.push_back(*file);
  }
  auto* real = dynamic_cast<RealLoop*>(&context.loop());
  bool is_rendered = !config["chart"].is_null() || !config["kustomize"].is_null();
  if (is_rendered) {
    path = config["chart"].is_null() ? Path("kustomize") : Path("chart");
    if (!real) {
      reading.diagnostics.error("Charts and kustomizations need a real loop", "This is an error of the provider.",
                                path);
      co_return reading;
    }
    Result<render::Rendered> rendered =
        config["chart"].is_null()
            ? co_await render::render_kustomization(*real, std::string(config["kustomize"].string_or("")))
            : co_await render_release(*real, config["chart"], name, ns);
    if (!rendered) {
      reading.diagnostics.error(
          Error(rendered.error()).in(fmt::format("The manifests could not be rendered (bundle {})", name)), path);
      co_return reading;
    }
    for (const std::string& warning : rendered->warnings) context.log().warn(warning);
    texts = std::move(rendered->texts);
  }
  auto bundle = co_await manifest::read_with(std::move(files), {}, std::move(texts));
  if (bundle) {
    reading.bundle = *std::move(bundle);
  } else {
    for (const Error& error : bundle.error())
      reading.diagnostics.error(Error(error).in(fmt::format("The manifests cannot be used (bundle {})", name)), path);
  }
  co_return reading;
}

Flat digests_of(const manifest::Bundle& bundle, std::string_view key) {
  Flat digests;
  for (const object::Object& object : bundle.objects)
    digests[object.key().text_with_group()] = diff::digest_of(object.value(), key).substr(0, 16);
  return digests;
}

}  // namespace fairlead::terraform
