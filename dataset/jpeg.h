// libjpeg behind one call. Not TurboJPEG's simpler interface: that tells neither a fatal error from
// a warning once there was a warning, nor how much of a picture was there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cnn {

struct JpegOutcome {
  enum class State {
    kGood,       // possibly with a complaint
    kTruncated,  // the data ended before the picture, after about `rows` rows (0: not known)
    kDamaged     // libjpeg gave up
  };
  State state = State::kGood;
  int rows = 0;
  std::string complaint;  // libjpeg's first warning, or its error
};

/// Decodes one image after the other; one per thread. Movable, not copyable.
class JpegDecoder {
 public:
  JpegDecoder();

  /// Writes [height, width] pixels of 3 bytes, RGB, or with `is_cmyk` of 4 bytes, as stored.
  /// Accurate integer DCT and smooth upsampling, libjpeg's defaults. A file that turns out to have
  /// another size is damaged, and so is one of more than 500 scans, which would take for ever.
  /// `pixels` are all written if and only if the outcome is good.
  JpegOutcome Decode(const std::vector<std::uint8_t>& jpeg, int width, int height, bool is_cmyk,
                     std::uint8_t* pixels);

 private:
  struct Context;
  struct DestroyContext {
    void operator()(Context* context) const;
  };
  static bool Run(Context& context, const std::vector<std::uint8_t>& jpeg, int width, int height,
                  bool is_cmyk, std::uint8_t* pixels);

  std::unique_ptr<Context, DestroyContext> context_;
};

/// "libjpeg-turbo 2.1.5", the version of the headers it was built with.
std::string JpegLibraryVersion();

}  // namespace cnn
