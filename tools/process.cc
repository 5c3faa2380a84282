#include "tools/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

namespace cnn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<int, 3> kInterrupts = {SIGINT, SIGTERM, SIGHUP};

bool IsInterrupt(int signal) {
  return std::find(kInterrupts.begin(), kInterrupts.end(), signal) != kInterrupts.end();
}

// A file descriptor that closes itself; never inherited.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  void Close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> EnvironmentWithout(const std::vector<std::string>& names) {
  std::vector<std::string> environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (std::find(names.begin(), names.end(), name) == names.end()) environment.emplace_back(text);
  }
  return environment;
}

// All that a child needs between fork and exec: there it may call hardly anything.
struct Launch {
  const char* program;
  char** arguments;
  char** environment;
  const char* folder;
  int log;
  int nothing;  // /dev/null
  int failure;  // pipe that takes errno
  pid_t parent;
  sigset_t mask;
};

[[noreturn]] void BecomeProgram(const Launch& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == launch.parent && ::chdir(launch.folder) == 0 &&
      ::dup2(launch.nothing, STDIN_FILENO) >= 0 && ::dup2(launch.log, STDOUT_FILENO) >= 0 &&
      ::dup2(launch.log, STDERR_FILENO) >= 0 &&
      ::sigprocmask(SIG_SETMASK, &launch.mask, nullptr) == 0) {
    ::execve(launch.program, launch.arguments, launch.environment);
  }
  const int error = errno;
  const ssize_t ignored = ::write(launch.failure, &error, sizeof(error));
  static_cast<void>(ignored);
  ::_exit(127);
}

[[noreturn]] void FailToStart(const std::string& program, int error) {
  throw StartError(program + ": cannot be started: " + std::strerror(error));
}

}  // namespace

// --- Interrupts ---------------------------------------------------------------------------------

Interrupts::Interrupts() {
  ::sigemptyset(&taken_);
  for (const int signal : kInterrupts) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::sigaddset(&taken_, signal);
  }
  ::sigaddset(&taken_, SIGCHLD);
  ::sigaddset(&taken_, SIGTSTP);
  ::sigprocmask(SIG_BLOCK, &taken_, &mask_before_);
  // Where it was ignored, children would leave without their exit status.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &standard, &child_before_);
}

Interrupts::~Interrupts() {
  if (signal_ != 0) Poll();  // another of the same moment must not end us now
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

int Interrupts::Wait(long milliseconds) {
  const timespec timeout = {milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  return std::max(0, ::sigtimedwait(&taken_, nullptr, &timeout));
}

bool Interrupts::Remember(int signal) {
  constexpr auto kTogether = std::chrono::milliseconds(200);
  if (signal_ != 0 && Clock::now() - when_ < kTogether) return false;
  when_ = Clock::now();
  if (signal_ == 0) signal_ = signal;
  return true;
}

void Interrupts::Poll() {
  for (int signal = Wait(0); signal != 0; signal = Wait(0)) {
    if (IsInterrupt(signal)) Remember(signal);
    if (signal == SIGTSTP) ::kill(::getpid(), SIGSTOP);
  }
}

// --- Child --------------------------------------------------------------------------------------

// Its destructor leaves nothing running, whatever is thrown.
class Child {
 public:
  Child(const ProcessOptions& options, Interrupts& interrupts) : interrupts_(interrupts) {
    std::vector<std::string> arguments = options.arguments;
    arguments.insert(arguments.begin(), options.program);
    std::vector<std::string> environment = EnvironmentWithout(options.unset);
    std::vector<char*> argument_pointers = Pointers(arguments);
    std::vector<char*> environment_pointers = Pointers(environment);
    const Descriptor log(
        ::open(options.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (log.number() < 0) throw StartError(options.log + ": " + std::strerror(errno));
    const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    std::array<int, 2> ends = {-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) FailToStart(options.program, errno);
    const Descriptor failure(ends[0]);
    Descriptor failure_in(ends[1]);
    const Launch launch = {options.program.c_str(),
                           argument_pointers.data(),
                           environment_pointers.data(),
                           options.folder.c_str(),
                           log.number(),
                           nothing.number(),
                           failure_in.number(),
                           ::getpid(),
                           interrupts.mask_before_};
    pid_ = ::fork();
    if (pid_ < 0) FailToStart(options.program, errno);
    if (pid_ == 0) BecomeProgram(launch);
    ::setpgid(pid_, pid_);  // here too: the group must be there before it is signalled
    failure_in.Close();
    int error = 0;
    ssize_t size = 0;
    do {
      size = ::read(failure.number(), &error, sizeof(error));
    } while (size < 0 && errno == EINTR);
    if (size != 0) {
      Reap();
      FailToStart(options.program, size > 0 ? error : errno);
    }
  }

  ~Child() {
    if (!is_reaped_) Reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  ProcessEnd WaitForEnd(const std::function<void()>& tick) {
    constexpr long kTick = 1000;
    ProcessEnd end;
    while (!HasEnded()) {
      const int signal = interrupts_.Wait(kTick);
      if (signal == SIGTSTP) {
        ::kill(-pid_, SIGSTOP);
        ::kill(::getpid(), SIGSTOP);
        ::kill(-pid_, SIGCONT);
      } else if (IsInterrupt(signal) && interrupts_.Remember(signal)) {
        ::kill(-pid_, end.interrupt == 0 ? signal : SIGKILL);
        if (end.interrupt == 0) end.interrupt = signal;
      } else if (signal == 0) {
        tick();
      }
    }
    const int status = Reap();
    if (WIFSIGNALED(status)) {
      end.signal = WTERMSIG(status);
    } else {
      end.exit_code = WEXITSTATUS(status);
    }
    return end;
  }

 private:
  // Its number stays taken: it is not reaped.
  bool HasEnded() const {
    siginfo_t info{};
    const int result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG);
    return result == 0 && info.si_pid == pid_;
  }

  // Kills it, or what is left of its group, and returns its status.
  int Reap() {
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    is_reaped_ = true;
    return status;
  }

  Interrupts& interrupts_;
  pid_t pid_ = -1;
  bool is_reaped_ = false;
};

ProcessEnd RunProcess(const ProcessOptions& options, Interrupts& interrupts,
                      const std::function<void()>& tick) {
  const auto start = Clock::now();
  ProcessEnd end = Child(options, interrupts).WaitForEnd(tick);
  end.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return end;
}

std::string EndText(const ProcessEnd& end) {
  if (end.signal == 0) return "exit status " + std::to_string(end.exit_code);
  return "killed by signal " + std::to_string(end.signal) + " (" + ::strsignal(end.signal) + ")";
}

}  // namespace cnn
