#include "tools/context_keys.h"

#include <algorithm>
#include <array>

#include "tools/export_text.h"

namespace cnn {
namespace {

enum class Role {
  kPlain,
  kMachine,
  kCompared,
  kIncidental,
  kVarying  // from run to run, within bounds that a comparison looks at
};

struct ContextKey {
  std::string_view name;
  Severity severity = Severity::kEnvironment;
  Role role = Role::kPlain;

  // "device_" stands for all keys that begin so: what they are about follows.
  bool HasSubject() const { return !name.empty() && name.back() == '_'; }
};

constexpr std::array<ContextKey, 28> kKeys = {{
    {"host_name", Severity::kIdentity, Role::kMachine},
    {"num_cpus", Severity::kIdentity, Role::kMachine},
    {"caches", Severity::kIdentity, Role::kMachine},
    {"device_", Severity::kIdentity, Role::kMachine},
    {"mhz_per_cpu", Severity::kIdentity, Role::kVarying},
    {"cpu_capability", Severity::kIdentity},
    {"library_build_type", Severity::kBuild},
    {"library_version", Severity::kBuild},
    {"json_schema_version", Severity::kBuild},
    {"build_type", Severity::kBuild},
    {"compiler", Severity::kBuild},
    {"cxx_flags", Severity::kBuild},
    {"git_commit", Severity::kBuild, Role::kCompared},
    {"git_dirty", Severity::kBuild, Role::kCompared},
    {"suite_version", Severity::kBuild, Role::kCompared},
    {"suite_schema_version", Severity::kBuild},
    {"libtorch", Severity::kBuild},
    {"libjpeg", Severity::kBuild},
    {"opencv", Severity::kBuild},
    {"onednn", Severity::kBuild},
    {"blas", Severity::kBuild},
    {"cuda", Severity::kBuild},
    {"cudnn", Severity::kBuild},
    {"dataset_", Severity::kEnvironment},
    {"aslr_enabled", Severity::kEnvironment, Role::kVarying},
    {"date", Severity::kEnvironment, Role::kIncidental},
    {"load_avg", Severity::kEnvironment, Role::kIncidental},
    {"executable", Severity::kEnvironment, Role::kIncidental},
}};

ContextKey Find(std::string_view key) {
  for (const ContextKey& known : kKeys) {
    const std::size_t size = known.HasSubject() ? known.name.size() : key.size();
    if (key.substr(0, size) == known.name) return known;
  }
  return {};
}

bool IsSameOrigin(std::string_view key, std::string_view a, std::string_view b) {
  if (a == b) return true;
  // The same program may have been started by another path.
  if (key == "executable") return BaseName(a) == BaseName(b);
  const ContextKey known = Find(key);
  if (known.role == Role::kIncidental || known.role == Role::kVarying) return true;
  return known.HasSubject() && (a.empty() || b.empty());
}

}  // namespace

Severity SeverityOf(std::string_view key) { return Find(key).severity; }

bool IsMachineKey(std::string_view key) { return Find(key).role == Role::kMachine; }

bool IsCompared(std::string_view key) { return Find(key).role == Role::kCompared; }

bool IsIncidental(std::string_view key) { return Find(key).role == Role::kIncidental; }

std::string_view DifferenceOfOrigin(const ResultFile& a, const ResultFile& b) {
  for (const ResultFile* file : {&a, &b}) {
    for (const ContextEntry& entry : file->context) {
      if (!IsSameOrigin(entry.key, a.ContextValue(entry.key), b.ContextValue(entry.key))) {
        return entry.key;
      }
    }
  }
  return {};
}

}  // namespace cnn
