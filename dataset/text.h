// File names are bytes: any but '/' and NUL. What shows them to a person, or writes them where
// UTF-8 is expected (JSON), shows them through here.
#pragma once

#include <string>
#include <string_view>

namespace cnn {

/// Valid UTF-8 on one line, without control characters: each byte that is neither is written \xNN.
std::string Printable(std::string_view text);

}  // namespace cnn
