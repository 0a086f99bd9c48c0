// What is made of the programs' answers. They are small scripts here, which write down how they were called.
#include "render/render.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "async/scope.h"
#include "base/temp_folder_testing.h"

namespace fairlead::render {
namespace {

using testing::HasSubstr;

class Render : public testing::Test {
 protected:
  Render() {
    // Only the folder of the scripts, and where the shell is.
    ::setenv("PATH", (temp_.path_of("bin") + ":/usr/bin:/bin").c_str(), 1);
    std::filesystem::create_directories(temp_.path_of("bin"));
  }
  ~Render() override {
    ::setenv("PATH", path_.c_str(), 1);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left behind";
  }

  void install(const std::string& name, const std::string& script) {
    std::string file = temp_.write("bin/" + name, "#!/bin/sh\necho \"$0 $*\" >> " + log() + "\n" + script);
    ::chmod(file.c_str(), 0700);
  }
  std::string log() const { return temp_.path_of("log"); }
  std::string calls() const {
    std::ifstream file(log());
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return temp_.hide_in(std::move(text), "");
  }

  std::string shown(const Result<Rendered>& rendered) const {
    if (!rendered) return temp_.hide_in(rendered.error().report(), "TEMP");
    std::string text;
    for (const manifest::Text& one : rendered->texts) text += fmt::format("[{}] {}", one.origin, one.content);
    for (const std::string& warning : rendered->warnings) text += fmt::format("warning: {}\n", warning);
    return text;
  }
  std::string chart(Target target = {.ns = "web"}, Chart chart = {.chart = "oci://x/shop", .release = "shop"}) {
    return shown(loop_.run(render_chart(loop_, std::move(chart), std::move(target))));
  }
  std::string kustomization() { return shown(loop_.run(render_kustomization(loop_, "overlay"))); }

  std::string path_ = std::getenv("PATH");
  RealLoop loop_;
  TempFolder temp_;
};

constexpr const char* kVersion = "if [ $1 = version ]; then echo v4.3.1; exit; fi\n";

TEST_F(Render, AChart) {
  install("helm",
          std::string(kVersion) +
              "echo 'walking on thin ice' >&2\nprintf -- '---\\n# Source: shop/templates/a.yaml\\nkind: A\\n'\n");
  EXPECT_EQ(chart(), "[chart shop, templates/a.yaml] kind: A\nwarning: walking on thin ice\n");
  EXPECT_EQ(calls(),
            "/bin/helm version --short\n"
            "/bin/helm template --include-crds --namespace web -- shop oci://x/shop\n");
}

TEST_F(Render, WhatHelmSaysIsTheCause) {
  install("helm",
          std::string(kVersion) + "echo 'Error: no chart \033[31mhere' >&2\necho '  look elsewhere' >&2\nexit 1\n");
  EXPECT_EQ(chart(),
            "error: helm cannot render the chart oci://x/shop\n"
            "  because   no chart \\x1b[31mhere\n"
            "  because     look elsewhere\n");
  install("helm", std::string(kVersion) + "exit 3\n");
  EXPECT_EQ(chart(), "error: helm cannot render the chart oci://x/shop\n  because   exit status 3\n");
}

TEST_F(Render, HelmThatIsMissingOrTooOldIsNamed) {
  ::setenv("PATH", temp_.path_of("bin").c_str(), 1);
  EXPECT_EQ(chart(),
            "error: --chart needs helm, and helm is not in PATH\n"
            "  next      install Helm 3.13 or newer: https://helm.sh/docs/intro/install/\n");
  install("helm", "echo 'Client: v2.17.0'\n");
  EXPECT_EQ(chart(),
            "error: Helm 2.17 is too old\n"
            "  next      install Helm 3.13 or newer: https://helm.sh/docs/intro/install/\n");
  install("helm", "echo aye aye\n");
  EXPECT_EQ(chart(),
            "error: helm does not tell its version\n"
            "  because   `helm version --short` printed no version\n"
            "  next      helm version --short\n");
}

// Helm 4 compares what it renders with the cluster, which does not have the chart's kinds before the first
// installation.
TEST_F(Render, AClusterThatHasNotTheKindsYetIsNoObstacle) {
  install("helm",
          std::string(kVersion) +
              "case \"$*\" in *--dry-run=server*)\n"
              "  echo 'Error: unable to build kubernetes objects from release manifest: no matches' >&2; exit 1;;\n"
              "esac\nprintf -- '---\\n# Source: shop/templates/a.yaml\\nkind: A\\n'\n");
  Target target{.ns = "web", .kube_version = "v1.37.1", .api_versions = {"v1"}};
  EXPECT_EQ(
      chart(target),
      "[chart shop, templates/a.yaml] kind: A\n"
      "warning: oci://x/shop: `lookup` finds nothing in this run, since Helm 4 cannot use the cluster before it has "
      "the kinds of the chart\n");
  EXPECT_EQ(calls(),
            "/bin/helm version --short\n"
            "/bin/helm template --include-crds --namespace web --dry-run=server --take-ownership -- shop oci://x/shop\n"
            "/bin/helm template --include-crds --namespace web --kube-version v1.37.1 --api-versions v1 -- shop "
            "oci://x/shop\n");
  temp_.write("chart/templates/a.yaml", "kind: A\n");
  Chart folder{.chart = temp_.path_of("chart"), .release = "shop"};
  EXPECT_EQ(chart(target, folder), "[chart shop, templates/a.yaml] kind: A\n") << "it looks nothing up";
  temp_.write("chart/templates/b.yaml", "{{ lookup \"v1\" \"Secret\" \"\" \"\" }}\n");
  EXPECT_THAT(chart(target, folder), HasSubstr("`lookup` finds nothing in this run"));
}

TEST_F(Render, AKustomization) {
  install("kustomize", "echo kind: B\n");
  install("kubectl", "echo kind: A\n");
  EXPECT_EQ(kustomization(), "[kustomization overlay] kind: A\n");
  install("kubectl", "echo 'error: no kustomization.yaml' >&2; exit 1\n");
  EXPECT_EQ(kustomization(),
            "error: kubectl kustomize cannot build overlay\n"
            "  because   no kustomization.yaml\n");
  EXPECT_EQ(calls(), "/bin/kubectl kustomize -- overlay\n/bin/kubectl kustomize -- overlay\n");
}

TEST_F(Render, WithoutKubectlThereMayBeKustomize) {
  ::setenv("PATH", temp_.path_of("bin").c_str(), 1);
  EXPECT_EQ(kustomization(),
            "error: -k needs kubectl or kustomize, and neither is in PATH\n"
            "  next      install one of them: https://kubernetes.io/docs/tasks/tools/ or "
            "https://kubectl.docs.kubernetes.io/installation/kustomize/\n");
  install("kustomize", "echo kind: B\n");
  EXPECT_EQ(kustomization(), "[kustomization overlay] kind: B\n");
  EXPECT_EQ(calls(), "/bin/kustomize build -- overlay\n");
}

TEST_F(Render, AProgramIsEndedWithTheTask) {
  install("kubectl", "echo > " + temp_.path_of("begun") + "; exec sleep 1000\n");
  CancelSource stop;
  auto stop_when_begun = [&]() -> Task<void> {
    while (!std::filesystem::exists(temp_.path_of("begun")))
      (void)co_await sleep_for(loop_, std::chrono::milliseconds(1));
    stop.cancel();
  };
  auto both = [&]() -> Task<Result<Rendered>> {
    Scope beside(loop_, nullptr);
    beside.spawn(stop_when_begun());
    auto rendered = co_await render_kustomization(loop_, "overlay").governed_by(&stop);
    co_await beside.join();
    co_return rendered;
  };
  Result<Rendered> rendered = loop_.run(both());
  ASSERT_FALSE(rendered);
  EXPECT_EQ(rendered.error().kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace fairlead::render
