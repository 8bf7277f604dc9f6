#pragma once
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace pardec {

template <typename T>
class Task;

namespace detail {

/// The members that all promise types share.
struct PromiseBase {
  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::exception_ptr error;

  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) noexcept {
      return done.promise().on_done();
    }
    void await_resume() noexcept {}
  };

  std::suspend_always initial_suspend() noexcept { return {}; }
  FinalAwaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }

  /// Set by `All`, with `group` as its first argument. If set, this function is called when the
  /// task ends, and returns the coroutine to resume instead of `continuation`.
  std::coroutine_handle<> (*join)(void* group, std::exception_ptr error) = nullptr;
  void* group = nullptr;
  std::coroutine_handle<> on_done() noexcept { return join ? join(group, error) : continuation; }
};

template <typename T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  void return_value(T result) { value.emplace(std::move(result)); }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
  void take() {}
};

}  // namespace detail

/// A coroutine that returns one T. A task starts when another task awaits it. A root task, which no
/// other task awaits, starts with start(). A task owns its coroutine frame: destroying the task
/// also destroys all tasks that it awaits, and withdraws their pending steps. Parameters of a task
/// must be values, or references to objects that outlive the task.
template <typename T = void>
class Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() { destroy(); }

  /// Whether the task has ended, or is empty.
  bool done() const { return !handle_ || handle_.done(); }
  /// For root tasks only: runs the task until it waits or ends. Does not throw: `result` rethrows
  /// the task's exception. REQUIRES: the task is not empty and was not started.
  void start() { handle_.resume(); }
  /// Returns the result, or rethrows the task's exception. The result is moved out, so call this
  /// once. REQUIRES: the task is not empty, and done().
  T result() {
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    return handle_.promise().take();
  }

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) {
    handle_.promise().continuation = awaiting;
    return handle_;
  }
  T await_resume() { return result(); }

  /// The coroutine, which the task still owns; null: the task is empty.
  Handle handle() const { return handle_; }

 private:
  void destroy() {
    if (handle_) handle_.destroy();
  }
  Handle handle_;
};

template <typename T>
Task<T> detail::Promise<T>::get_return_object() {
  return Task<T>(Task<T>::Handle::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() {
  return Task<void>(Task<void>::Handle::from_promise(*this));
}

/// Awaits several concurrent tasks, which are started in the given order. Their steps share forward
/// passes. The results are in the order of the tasks. If a task throws, the other tasks are
/// destroyed, and co_await rethrows the exception. T must not be void, and no task may be empty.
template <typename T>
class All {
 public:
  explicit All(std::vector<Task<T>> tasks) : tasks_(std::move(tasks)) {}

  bool await_ready() const { return tasks_.empty(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) {
    awaiting_ = awaiting;
    // one more than there are tasks, so that the wait cannot end before this loop does
    open_ = tasks_.size() + 1;
    for (auto& task : tasks_) {
      task.handle().promise().join = &All::join;
      task.handle().promise().group = this;
    }
    for (auto& task : tasks_) {
      task.handle().resume();
      if (error_) return awaiting_;
    }
    starting_ = false;
    return --open_ == 0 ? awaiting_ : std::noop_coroutine();
  }
  std::vector<T> await_resume() {
    if (error_) {
      tasks_.clear();  // cancels the other tasks before the parent continues
      std::rethrow_exception(error_);
    }
    std::vector<T> results;
    results.reserve(tasks_.size());
    for (auto& task : tasks_) results.push_back(task.result());
    return results;
  }

 private:
  static std::coroutine_handle<> join(void* group, std::exception_ptr error) {
    auto& self = *static_cast<All*>(group);
    if (self.error_) return std::noop_coroutine();
    if (error) {
      self.error_ = error;
      return self.starting_ ? std::noop_coroutine() : self.awaiting_;
    }
    return --self.open_ == 0 ? self.awaiting_ : std::noop_coroutine();
  }

  std::vector<Task<T>> tasks_;
  std::coroutine_handle<> awaiting_;
  std::size_t open_ = 0;
  bool starting_ = true;
  std::exception_ptr error_;
};

/// Usage: `co_await all(std::move(tasks))`. See All.
template <typename T>
All<T> all(std::vector<Task<T>> tasks) {
  return All<T>(std::move(tasks));
}

}  // namespace pardec
