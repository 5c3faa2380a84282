#include "dataset/jpeg.h"

#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs it
#include <new>
// After jpeglib.h.
#include <jerror.h>

namespace cnn {

struct JpegDecoder::Context {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  // libjpeg is C: it cannot be left by an exception.
  std::jmp_buf escape{};
  bool is_truncated = false;
  int rows = 0;
  char complaint[JMSG_LENGTH_MAX] = "";
};

namespace {

constexpr int kMaxScans = 500;

template <typename Context>
Context& ContextOf(j_common_ptr info) {
  return *static_cast<Context*>(info->client_data);
}

template <typename Context>
[[noreturn]] void Fail(Context& context, const char* complaint) {
  std::snprintf(context.complaint, sizeof context.complaint, "%s", complaint);
  std::longjmp(context.escape, 1);
}

}  // namespace

JpegDecoder::JpegDecoder() : context_(new Context) {
  Context& context = *context_;
  context.info.err = jpeg_std_error(&context.errors);
  context.info.client_data = &context;
  context.errors.error_exit = [](j_common_ptr info) {
    Context& its = ContextOf<Context>(info);
    if (!its.is_truncated) info->err->format_message(info, its.complaint);
    std::longjmp(its.escape, 1);
  };
  context.errors.emit_message = [](j_common_ptr info, int level) {
    if (level >= 0) return;  // tracing
    Context& its = ContextOf<Context>(info);
    if (its.complaint[0] == '\0') info->err->format_message(info, its.complaint);
    if (info->err->msg_code != JWRN_JPEG_EOF) return;
    // What is missing would be grey.
    its.is_truncated = true;
    its.rows = static_cast<int>(its.info.output_scanline);
    std::longjmp(its.escape, 1);
  };
  context.progress.progress_monitor = [](j_common_ptr info) {
    Context& its = ContextOf<Context>(info);
    if (its.info.input_scan_number > kMaxScans) Fail(its, "it has more than 500 scans");
  };
  if (setjmp(context.escape) != 0) throw std::bad_alloc();
  jpeg_create_decompress(&context.info);
  context.info.progress = &context.progress;
}

void JpegDecoder::DestroyContext::operator()(Context* context) const {
  jpeg_destroy_decompress(&context->info);
  delete context;
}

JpegOutcome JpegDecoder::Decode(const std::vector<std::uint8_t>& jpeg, int width, int height,
                                bool is_cmyk, std::uint8_t* pixels) {
  Context& context = *context_;
  context.is_truncated = false;
  context.rows = 0;
  context.complaint[0] = '\0';
  JpegOutcome outcome;
  if (!Run(context, jpeg, width, height, is_cmyk, pixels)) {
    jpeg_abort_decompress(&context.info);
    outcome.state =
        context.is_truncated ? JpegOutcome::State::kTruncated : JpegOutcome::State::kDamaged;
    outcome.rows = context.rows;
  }
  outcome.complaint = context.complaint;
  return outcome;
}

// False when libjpeg escaped. A function of its own, without an object that needs a destructor.
bool JpegDecoder::Run(Context& context, const std::vector<std::uint8_t>& jpeg, int width,
                      int height, bool is_cmyk, std::uint8_t* pixels) {
  jpeg_decompress_struct& info = context.info;
  if (setjmp(context.escape) != 0) return false;
  jpeg_mem_src(&info, jpeg.data(), static_cast<unsigned long>(jpeg.size()));
  jpeg_read_header(&info, TRUE);
  if (info.image_width != static_cast<JDIMENSION>(width) ||
      info.image_height != static_cast<JDIMENSION>(height)) {
    Fail(context, "its size is not that of its first frame header");
  }
  info.out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&info);
  const std::size_t stride = static_cast<std::size_t>(width) * (is_cmyk ? 4 : 3);
  while (info.output_scanline < info.output_height) {
    constexpr JDIMENSION kRows = 16;
    JSAMPROW rows[kRows];
    const JDIMENSION count = std::min(kRows, info.output_height - info.output_scanline);
    for (JDIMENSION i = 0; i < count; ++i) {
      rows[i] = pixels + (info.output_scanline + i) * stride;
    }
    jpeg_read_scanlines(&info, rows, count);
  }
  jpeg_finish_decompress(&info);
  return true;
}

std::string JpegLibraryVersion() {
#if defined(LIBJPEG_TURBO_VERSION_NUMBER)
  constexpr int kNumber = LIBJPEG_TURBO_VERSION_NUMBER;  // 2001005 is 2.1.5
  return "libjpeg-turbo " + std::to_string(kNumber / 1000000) + "." +
         std::to_string(kNumber / 1000 % 1000) + "." + std::to_string(kNumber % 1000);
#else
  return "libjpeg " + std::to_string(JPEG_LIB_VERSION);
#endif
}

}  // namespace cnn
