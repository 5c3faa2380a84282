// One child process at a time, and the signals that end a run.
//
// No handlers and no globals: while Interrupts lives, the signals are blocked and taken one by one
// with sigtimedwait, in the loop that also waits for the child. Nothing is interrupted, nothing is
// lost between two system calls, and what arrives between two children is seen before the next.
//
// A child is the leader of a process group of its own. A Ctrl-C thus reaches cnn_compare alone,
// which hands it on, exactly once, as it does with a signal from kill(1); were the child in the
// terminal's group it would get one of the two twice, and a program that ends orderly on the first
// interrupt dies of the second. When the child has ended, whatever it left running in its group is
// killed, so that nothing disturbs the next measurement; when cnn_compare itself is killed, the
// kernel kills the child. Linux only.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cnn {

/// SIGINT, SIGTERM and SIGHUP, but for those that whoever started us had ignored (nohup). One
/// object at a time, in a program of one thread.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// The first signal that was taken, 0 without one.
  int signal() const { return signal_; }

  /// Takes what is pending.
  void Poll();

 private:
  friend class Child;

  // The signal that ended the wait; 0 when there was none within `milliseconds`.
  int Wait(long milliseconds);

  // Is this interrupt a new one? timeout(1) and some shells send theirs twice at once.
  bool Remember(int signal);

  sigset_t taken_{};
  sigset_t mask_before_{};
  struct sigaction child_before_ {};
  int signal_ = 0;
  std::chrono::steady_clock::time_point when_;
};

struct ProcessOptions {
  std::string program;                 // a path; PATH is not searched
  std::vector<std::string> arguments;  // after the program's name
  std::string folder;                  // to run in
  std::string log;                     // takes stdout and stderr; stdin is empty
  std::vector<std::string> unset;      // variables that the program must not see
};

struct ProcessEnd {
  int exit_code = 0;   // unless there is a signal
  int signal = 0;      // that ended it
  int interrupt = 0;   // that was handed on to it
  double seconds = 0;  // that it took
};

/// The program could not be started: the message names it and says why.
struct StartError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs a program to its end. `tick` is called every second. The first interrupt is handed on to
/// the program, which may take its time to end; a second kills it. Throws StartError.
ProcessEnd RunProcess(const ProcessOptions& options, Interrupts& interrupts,
                      const std::function<void()>& tick);

/// "exit status 2", "killed by signal 11 (Segmentation fault)".
std::string EndText(const ProcessEnd& end);

}  // namespace cnn
