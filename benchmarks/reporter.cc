#include "benchmarks/reporter.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "benchmarks/csv.h"
#include "benchmarks/table.h"
#include "dataset/replace_file.h"
#include "fixtures/fixture.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;
using Run = benchmark::BenchmarkReporter::Run;

std::vector<Run> Presentable(const std::vector<Run>& runs) {
  std::vector<Run> rows;
  for (Run run : runs) {
    if (Failed(run) && ErrorOf(run) == kInterruptedMessage) continue;
    run.run_name.time_type.clear();
    run.run_name.iterations.clear();
    // Aggregates divide by means that may be zero.
    for (auto counter = run.counters.begin(); counter != run.counters.end();) {
      const bool is_finite = std::isfinite(counter->second.value);
      counter = is_finite ? std::next(counter) : run.counters.erase(counter);
    }
    rows.push_back(std::move(run));
  }
  return rows;
}

std::unique_ptr<benchmark::BenchmarkReporter> DisplayReporter(const GoogleFlags& flags) {
  if (flags.format == "csv") return nullptr;
  if (flags.own_table) return std::make_unique<Table>();
  return std::unique_ptr<benchmark::BenchmarkReporter>(benchmark::CreateDefaultDisplayReporter());
}

std::unique_ptr<benchmark::BenchmarkReporter> FileReporter(const std::string& format) {
  if (format == "csv") return nullptr;
  if (format == "json") return std::make_unique<benchmark::JSONReporter>();
  return std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
}

// Empty, or why not.
std::string WriteWhole(const std::string& path, const std::string& text) {
  try {
    ReplaceFile(path, [&](const std::string& file) {
      errno = 0;
      std::ofstream out(file, std::ios::binary);
      out << text;
      out.close();
      if (!out) throw std::runtime_error(std::strerror(errno));
    });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

// Links to open files of a process: what they point to is not to be replaced.
bool IsDescriptor(const std::string& path) {
  for (const char* prefix : {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/"}) {
    if (path.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

}  // namespace

Display::Display(const GoogleFlags& flags, std::size_t longest_name)
    : longest_name_(longest_name), reporter_(DisplayReporter(flags)) {}

bool Display::ReportContext(const Context& context) {
  if (!reporter_) return true;
  Context fitted = context;
  fitted.name_field_width = longest_name_;
  std::ostringstream unwanted;  // Google Benchmark's own preamble: ours is on stderr already
  reporter_->SetErrorStream(&unwanted);
  const bool go_on = reporter_->ReportContext(fitted);
  reporter_->SetErrorStream(&std::cerr);
  return go_on;
}

void Display::ReportRuns(const std::vector<Run>& runs) {
  const std::vector<Run> rows = Presentable(runs);
  if (rows.empty()) return;
  if (!reporter_) {
    csv_rows_.insert(csv_rows_.end(), rows.begin(), rows.end());
    return;
  }
  reporter_->ReportRuns(rows);
  reporter_->GetOutputStream().flush();
}

void Display::Finalize() {
  if (reporter_) {
    reporter_->Finalize();
  } else {
    GetOutputStream() << Csv(csv_rows_);
  }
}

ResultFile::ResultFile(const GoogleFlags& flags)
    : path_(flags.out), format_(flags.out_format), reporter_(FileReporter(flags.out_format)) {
  // Found out now, not after the first hour; an older result stays until there is a new one.
  std::error_code error;
  if (!IsDescriptor(path_) && fs::is_symlink(path_, error)) {
    const fs::path target = fs::canonical(path_, error);
    if (!error) path_ = target.string();
  }
  const fs::path folder = fs::path(path_).parent_path();
  std::error_code folder_error;
  if (!folder.empty()) fs::create_directories(folder, folder_error);
  const fs::file_status status = fs::status(path_, error);
  const bool is_stream =
      IsDescriptor(path_) || (fs::exists(status) && !fs::is_regular_file(status));
  std::string why;
  if (folder_error) {
    why = folder_error.message();
  } else if (fs::is_directory(status)) {
    why = "it is a folder";
  } else if (is_stream) {
    stream_.open(path_, std::ios::binary | std::ios::app);
    if (!stream_) why = std::strerror(errno);
  } else if (!folder.empty() && !fs::is_directory(folder, error)) {
    why = "'" + folder.string() + "' is no folder";
  } else if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) {
    why = std::strerror(errno);
  }
  if (!why.empty()) {
    throw std::runtime_error("cannot write results to '" + path_ + "': " + why +
                             "; choose another file with --benchmark_out=FILE");
  }
  if (reporter_) {
    reporter_->SetOutputStream(&text_);
    reporter_->SetErrorStream(&text_);
  }
}

bool ResultFile::ReportContext(const Context& context) {
  if (reporter_) reporter_->ReportContext(context);
  return true;
}

void ResultFile::ReportRuns(const std::vector<Run>& runs) {
  const std::vector<Run> rows = Presentable(runs);
  if (rows.empty()) return;
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  if (reporter_) reporter_->ReportRuns(rows);
  if (!stream_.is_open()) Write();
}

void ResultFile::Finalize() {
  if (stream_.is_open() && !rows_.empty()) Write();
}

void ResultFile::Write() {
  std::string text = text_.str();
  if (format_ == "csv") text = Csv(rows_);
  if (format_ == "json") text += "\n  ]\n}\n";  // what JSONReporter writes when all is done
  std::string why;
  if (!stream_.is_open()) {
    why = WriteWhole(path_, text);
  } else if (!(stream_ << text << std::flush)) {
    why = std::strerror(errno);
  }
  written_ = why.empty();
  if (!written_) {
    std::cerr << "cannot write '" << path_ << "': " << why << "; going on without it\n";
  }
}

int ResultFile::Conclude(int failures) const {
  if (rows_.empty()) {
    std::cerr << "nothing was finished; " << path_ << " was not written\n";
  } else if (written_) {
    std::cerr << rows_.size() << (rows_.size() == 1 ? " row" : " rows") << " written to " << path_
              << "\n";
  }
  if (failures > 0) std::cerr << failures << " failed\n";
  if (Interrupted()) {
    std::cerr << "interrupted\n";
    return 130;
  }
  if (failures > 0 || !written_) return 1;
  return rows_.empty() ? 2 : 0;
}

}  // namespace cnn
