#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "http/net/tls.h"

namespace fairlead::http {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFiles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Gentoo, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL 6
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/pki/tls/cacert.pem",                            // OpenELEC
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL 7 and later
    "/etc/ssl/cert.pem",                                  // Alpine
};
constexpr const char* kFolders[] = {"/etc/ssl/certs", "/etc/pki/tls/certs"};
constexpr size_t kMaxFile = size_t{8} << 20;

bool add_file(const fs::path& path, std::vector<x509::Certificate>& roots) {
  std::error_code problem;
  if (!fs::is_regular_file(path, problem) || fs::file_size(path, problem) > kMaxFile) return false;
  std::ifstream in(path, std::ios::binary);
  std::string pem((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  auto certificates = x509::Certificate::parse_pem(pem);
  if (!certificates) return false;
  std::ranges::move(*certificates, std::back_inserter(roots));
  return true;
}

void add_folder(const fs::path& folder, std::vector<x509::Certificate>& roots) {
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
    add_file(entry->path(), roots);
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

SystemRoots system_roots() {
  SystemRoots found;
  auto look_in_file = [&](const std::string& path, const std::string& variable = {}) {
    found.places.push_back(path + variable);
    return add_file(path, found.certificates);
  };
  auto look_in_folder = [&](const std::string& path, const std::string& variable = {}) {
    found.places.push_back(path + variable);
    add_folder(path, found.certificates);
  };
  std::string file = from_environment("SSL_CERT_FILE");
  std::string folders = from_environment("SSL_CERT_DIR");
  if (!file.empty()) {
    look_in_file(file, " (SSL_CERT_FILE)");
  } else {
    for (const char* path : kFiles)
      if (look_in_file(path)) break;
  }
  if (!folders.empty()) {
    for (size_t begin = 0; begin <= folders.size();) {
      size_t colon = std::min(folders.find(':', begin), folders.size());
      if (colon > begin) look_in_folder(folders.substr(begin, colon - begin), " (SSL_CERT_DIR)");
      begin = colon + 1;
    }
  } else if (found.certificates.empty()) {
    // Distributions keep the same certificates in a file and in a folder: one of them is enough.
    for (const char* path : kFolders) look_in_folder(path);
  }
  return found;
}

}  // namespace fairlead::http
