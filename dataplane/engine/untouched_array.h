// Room for values that nobody touches before they are written: what is reserved and never needed costs
// addresses, not memory.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace rocetune::engine {

template <class T>
class UntouchedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit UntouchedArray(std::size_t size) : places_(std::make_unique_for_overwrite<Place[]>(size)) {}
  // An array without a size to look up: whoever has one knows how far it is written.
  T& operator[](std::size_t index) { return *reinterpret_cast<T*>(places_[index].data()); }
  const T& operator[](std::size_t index) const { return *reinterpret_cast<const T*>(places_[index].data()); }

 private:
  struct alignas(T) Place : std::array<std::byte, sizeof(T)> {};
  std::unique_ptr<Place[]> places_;
};

}  // namespace rocetune::engine
