// Threads that do one thing together, again and again, and wait for each other in between.
#pragma once

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace rocetune::fabric {

class Crew {
 public:
  // `others`: threads beside the caller's.
  explicit Crew(std::size_t others) : barrier_(static_cast<std::ptrdiff_t>(others + 1)) {
    for (std::size_t i = 1; i <= others; ++i) threads_.emplace_back([this, i] { work(i); });
  }
  ~Crew() {
    task_ = nullptr;
    barrier_.arrive_and_wait();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls task(0) here and task(1), task(2) ... in the others; returns when all have returned.
  void run(const std::function<void(std::size_t)>& task) {
    task_ = &task;
    barrier_.arrive_and_wait();
    task(0);
    barrier_.arrive_and_wait();
  }

 private:
  void work(std::size_t number) {
    while (true) {
      barrier_.arrive_and_wait();
      if (task_ == nullptr) return;
      (*task_)(number);
      barrier_.arrive_and_wait();
    }
  }
  std::barrier<> barrier_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::vector<std::jthread> threads_;
};

}  // namespace rocetune::fabric
