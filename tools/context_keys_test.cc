#include "tools/context_keys.h"

#include <gtest/gtest.h>

#include <string>

namespace cnn {
namespace {

ResultFile WithContext(std::vector<ContextEntry> context) {
  ResultFile file;
  file.context = std::move(context);
  return file;
}

std::string Difference(const std::string& key, const std::string& a, const std::string& b) {
  const auto file = [&](const std::string& value) {
    return value.empty() ? WithContext({}) : WithContext({{key, value}});
  };
  return std::string(DifferenceOfOrigin(file(a), file(b)));
}

TEST(ContextKeys, TellWhatADifferenceMeans) {
  EXPECT_EQ(SeverityOf("device_cuda"), Severity::kIdentity);
  EXPECT_EQ(SeverityOf("cudnn"), Severity::kBuild);
  for (const char* key :
       {"allocator", "environment", "opencv_threads", "bad_images_policy", "max_pixels"}) {
    EXPECT_EQ(SeverityOf(key), Severity::kSettings) << key;
  }
  EXPECT_EQ(SeverityOf("governor"), Severity::kEnvironment);
  EXPECT_EQ(SeverityOf(""), Severity::kEnvironment);
  EXPECT_TRUE(IsMachineKey("device_cpu"));
  EXPECT_FALSE(IsMachineKey("devices"));
  EXPECT_FALSE(IsMachineKey("mhz_per_cpu"));
  EXPECT_TRUE(IsCompared("git_dirty"));
  EXPECT_TRUE(IsIncidental("load_avg"));
  EXPECT_FALSE(IsIncidental("aslr_enabled")) << "a comparison mentions it";
}

TEST(ContextKeys, DistinguishWhateverDecidesANumber) {
  for (const char* key :
       {"host_name",       "num_cpus",     "caches",          "device_cpu", "cpu_capability",
        "git_commit",      "git_dirty",    "suite_version",   "build_type", "compiler",
        "cxx_flags",       "libtorch",     "onednn",          "blas",       "opencv",
        "libjpeg",         "cuda",         "cudnn",           "allocator",  "environment",
        "library_version", "kernel",       "compute_threads", "precision",  "governor",
        "affinity",        "dataset_dogs", "network_tiny",    "seed",       "random_stream",
        "keras_profile",   "handicap",     "framework",       "executable", "nobody's key"}) {
    EXPECT_EQ(Difference(key, "a", "b"), key);
    EXPECT_EQ(Difference(key, "a", "a"), "");
  }
}

TEST(ContextKeys, LetVaryWhatVariesFromRunToRun) {
  for (const char* key : {"date", "load_avg", "mhz_per_cpu", "aslr_enabled", "networks_file"}) {
    EXPECT_EQ(Difference(key, "a", "b"), "") << key;
  }
  EXPECT_EQ(Difference("executable", "build/cnn_benchmarks", "/x/cnn_benchmarks"), "");
}

TEST(ContextKeys, TakeAnAbsentKeyForADifference) {
  EXPECT_EQ(Difference("git_commit", "", "b"), "git_commit");
  EXPECT_EQ(Difference("allocator", "a", ""), "allocator");
  for (const char* key : {"device_cuda", "dataset_dogs", "network_tiny"}) {
    EXPECT_EQ(Difference(key, "a", ""), "") << key << " is of what a run used";
    EXPECT_EQ(Difference(key, "", "b"), "") << key;
  }
}

}  // namespace
}  // namespace cnn
