// How fast manifests are read: manifest_bench FILE. Prints one line of JSON.
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "async/loop.h"
#include "manifest/manifest.h"

int main(int argc, char** argv) {
  using namespace fairlead;
  if (argc != 2) {
    std::fputs("usage: manifest_bench FILE\n", stderr);
    return 2;
  }
  std::error_code error;
  uintmax_t bytes = std::filesystem::file_size(argv[1], error);
  auto start = std::chrono::steady_clock::now();
  VirtualLoop loop;
  auto bundle = loop.run(manifest::read({argv[1]}, {}));
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!bundle) {
    for (const Error& problem : bundle.error()) std::fputs(problem.report().c_str(), stderr);
    return 1;
  }
  fmt::print("{{\"bytes\":{},\"objects\":{},\"seconds\":{:.3f},\"mb_per_s\":{:.1f}}}\n", bytes, bundle->objects.size(),
             seconds, double(bytes) / 1e6 / seconds);
  return 0;
}
