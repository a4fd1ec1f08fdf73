// The same job for many things, on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace rocetune {

// job(0) to job(count - 1), each once, on at most so many threads, the caller's among them; returns when all
// have ended. Which runs when, and where, is chance.
template <class Job>
void for_each_in_parallel(std::size_t count, std::size_t threads, const Job& job) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) job(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(work);
  work();
  others.clear();  // joins
}

}  // namespace rocetune
