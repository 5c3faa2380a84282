#include "tools/context_keys.h"

#include <algorithm>
#include <array>

#include "tools/export_text.h"

namespace cnn {
namespace {

enum class KeyRole {
  kPlain,
  kMachine,
  kCompared,
  kIncidental,
  kVarying  // from run to run, within bounds that a comparison looks at
};

struct ContextKey {
  std::string_view name;
  Severity severity = Severity::kEnvironment;
  KeyRole role = KeyRole::kPlain;

  // "device_" stands for all keys that begin so: what they are about follows.
  bool HasSubject() const { return !name.empty() && name.back() == '_'; }
};

constexpr std::array<ContextKey, 48> kKeys = {{
    {"host_name", Severity::kIdentity, KeyRole::kMachine},
    {"num_cpus", Severity::kIdentity, KeyRole::kMachine},
    {"caches", Severity::kIdentity, KeyRole::kMachine},
    {"device_", Severity::kIdentity, KeyRole::kMachine},
    {"mhz_per_cpu", Severity::kIdentity, KeyRole::kVarying},
    {"cpu_capability", Severity::kIdentity},
    {"kernel", Severity::kIdentity},
    {"library_build_type", Severity::kBuild},
    {"library_version", Severity::kBuild},
    {"json_schema_version", Severity::kBuild},
    {"build_type", Severity::kBuild},
    {"compiler", Severity::kBuild},
    {"cxx_flags", Severity::kBuild},
    {"git_commit", Severity::kBuild, KeyRole::kCompared},
    {"git_dirty", Severity::kBuild, KeyRole::kCompared},
    {"suite_version", Severity::kBuild, KeyRole::kCompared},
    {"suite_schema_version", Severity::kBuild},
    {"libtorch", Severity::kBuild},
    {"libjpeg", Severity::kBuild},
    {"opencv", Severity::kBuild},
    {"onednn", Severity::kBuild},
    {"blas", Severity::kBuild},
    {"cuda", Severity::kBuild},
    {"cudnn", Severity::kBuild},
    {"cores", Severity::kSettings},
    {"affinity", Severity::kSettings},
    {"compute_threads", Severity::kSettings},
    {"opencv_threads", Severity::kSettings},
    {"environment", Severity::kSettings},
    {"allocator", Severity::kSettings},
    {"precision", Severity::kSettings},
    {"seed", Severity::kSettings},
    {"random_stream", Severity::kSettings},
    {"keras_profile", Severity::kSettings},
    {"bad_images_policy", Severity::kSettings},
    {"max_pixels", Severity::kSettings},
    {"handicap", Severity::kSettings},
    {"framework", Severity::kSettings},
    {"dataset_", Severity::kSettings},
    {"network_", Severity::kSettings},
    {"governor"},
    {"transparent_hugepages"},
    {"cpu_scaling_enabled"},
    {"aslr_enabled", Severity::kEnvironment, KeyRole::kVarying},
    {"date", Severity::kEnvironment, KeyRole::kIncidental},
    {"load_avg", Severity::kEnvironment, KeyRole::kIncidental},
    {"executable", Severity::kEnvironment, KeyRole::kIncidental},
    // What its networks are stands in network_ keys.
    {"networks_file", Severity::kEnvironment, KeyRole::kIncidental},
}};

ContextKey Find(std::string_view key) {
  for (const ContextKey& known : kKeys) {
    const std::size_t size = known.HasSubject() ? known.name.size() : key.size();
    if (key.substr(0, size) == known.name) return known;
  }
  return {};
}

}  // namespace

Severity SeverityOf(std::string_view key) { return Find(key).severity; }

bool IsMachineKey(std::string_view key) { return Find(key).role == KeyRole::kMachine; }

bool HasSubject(std::string_view key) { return Find(key).HasSubject(); }

bool IsCompared(std::string_view key) { return Find(key).role == KeyRole::kCompared; }

bool IsIncidental(std::string_view key) { return Find(key).role == KeyRole::kIncidental; }

bool IsMixed(std::string_view key, std::string_view a, std::string_view b) {
  if (a == b) return false;
  // The same program may have been started by another path.
  if (key == "executable") return BaseName(a) != BaseName(b);
  const ContextKey known = Find(key);
  if (known.role == KeyRole::kIncidental || known.role == KeyRole::kVarying) return false;
  return !known.HasSubject() || (!a.empty() && !b.empty());
}

std::string_view DifferenceOfOrigin(const ResultFile& a, const ResultFile& b) {
  for (const ResultFile* file : {&a, &b}) {
    for (const ContextEntry& entry : file->context) {
      if (IsMixed(entry.key, a.ContextValue(entry.key), b.ContextValue(entry.key))) {
        return entry.key;
      }
    }
  }
  return {};
}

}  // namespace cnn
