// Rows as comma-separated values (RFC 4180): a line per row under one heading, which has every
// counter that any row has; a row without it leaves the field empty. Google Benchmark's own CSV
// ends the program when two rows have different counters.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace cnn {

std::string Csv(const std::vector<benchmark::BenchmarkReporter::Run>& rows);

}  // namespace cnn
