// Freed memory stays with the process. On a virtual machine a first touch of a page costs
// microseconds, and the C library gives every activation above 32 MiB back to the system after each
// step: most of a training step is then spent in the kernel. jemalloc, told to keep what is freed
// and to use huge pages, is linked for that; its settings stand in allocator.cc.
#pragma once

#include <optional>
#include <string>

namespace cnn {

/// Which malloc the process runs on, e.g. "jemalloc 5.3.0 (dirty_decay_ms:-1,...)" or
/// "/lib/.../libc.so.6".
std::string DescribeAllocator();

/// True when it is jemalloc with freed memory kept.
bool KeepsFreedMemory();

/// Sees to it that the process runs on `choice` ("system", "keep", or none for the default). For
/// "system" the program is started again, in place, with the C library's malloc in front of
/// jemalloc's. Throws std::runtime_error when that cannot be had.
void UseAllocator(const std::optional<std::string>& choice, char* const* argv);

}  // namespace cnn
