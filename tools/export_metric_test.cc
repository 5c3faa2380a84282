#include "tools/export_metric.h"

#include <gtest/gtest.h>

#include "tools/export_labels.h"

namespace cnn {
namespace {

TEST(ExportMetric, ReadsUnitsOutOfNames) {
  EXPECT_EQ(UnitOf("forward_ms").unit, "ms");
  EXPECT_EQ(UnitOf("forward_ms").to_base, 1e-3);
  EXPECT_EQ(UnitOf("peak_memory_mb").to_base, 1e6);
  EXPECT_EQ(UnitOf("bytes_per_second").unit, "B/s");
  EXPECT_EQ(UnitOf("loss").unit, "");
  EXPECT_EQ(UnitOf("_ms").unit, "") << "there is nothing that it would be the unit of";
}

TEST(ExportMetric, NamesValuesInBaseUnits) {
  EXPECT_EQ(BaseUnitName("real_time"), "real_time_seconds");
  EXPECT_EQ(BaseUnitName("forward_ms"), "forward_seconds");
  EXPECT_EQ(BaseUnitName("forward_ms", "lower"), "forward_lower_seconds");
  EXPECT_EQ(BaseUnitName("peak_memory_mb"), "peak_memory_bytes");
  EXPECT_EQ(BaseUnitName("ms_per_step"), "step_seconds");
  EXPECT_EQ(BaseUnitName("accuracy", "upper"), "accuracy_upper");
}

std::string LabelText(std::string_view name) {
  std::string text;
  for (const Label& label : NameLabels(name)) text += label.key + "=" + label.value + ";";
  return text;
}

TEST(ExportLabels, TakesNamesApart) {
  EXPECT_EQ(LabelText("Layer/eight_kinds/conv1/device:cpu/pass:forward/batch:32"),
            "family=Layer;subject=eight_kinds/conv1;device=cpu;pass=forward;batch=32;");
  EXPECT_EQ(LabelText("BM_x<float, 3>/8/threads:2"), "family=BM_x<float, 3>;subject=8;threads=2;");
  EXPECT_EQ(LabelText("A/b:1/b:2"), "family=A;b=1;") << "the first of a key";
  EXPECT_EQ(LabelText("A/ns::f/9:1/x:"), "family=A;subject=ns::f/9:1/x:;") << "no pairs";
  EXPECT_EQ(LabelText("A/host:x"), "family=A;arg_host=x;") << "a key of ours";
  EXPECT_EQ(LabelText(""), "");
}

}  // namespace
}  // namespace cnn
