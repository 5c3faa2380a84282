// What the machine has and does, as far as it matters to a measurement; read from the system each
// time it is asked for.
#pragma once

#include <cstdint>
#include <string>

namespace cnn {

/// Cores this process may use: its affinity, less what a cgroup's quota denies.
int AvailableCores();

/// Bytes that can be allocated without swapping: the kernel's estimate, less what a cgroup or the
/// process's limits deny.
std::int64_t AvailableMemory();

/// CPUs the process may run on, "0-3,8".
std::string Affinity();

/// CPU frequency governor; "unknown" where the system does not say (virtual machines).
std::string Governor();

/// The kernel's mode: always, madvise or never; "unknown" where the system does not say.
std::string TransparentHugepages();

/// Cores that others keep busy; watches for 0.3 s, during which this process must do nothing.
double CoresBusyElsewhere();

}  // namespace cnn
